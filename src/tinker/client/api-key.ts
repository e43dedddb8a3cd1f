// Where the key of a Tinker server comes from: the environment, or a `.env` file of the working folder. Reads; keeps
// nothing and prints nothing.

import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { TabwrightError } from '../../core/index.ts';
import { clientError } from './client-error.ts';

const NAME = 'TINKER_API_KEY';

/** Sent to servers of this machine that ask for none; in the form that the protocol's keys have. */
const LOCAL_KEY = 'tml-local';

export type ApiKeyOptions = {
  readonly baseUrl: string;
  /** Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default `.env` of the working folder. */
  readonly envFile?: string;
};

export function findApiKey({ baseUrl, environment = process.env, envFile = '.env' }: ApiKeyOptions): string {
  const key = environment[NAME] ?? fromFile(envFile);
  if (key !== undefined && key !== '') {
    checkKeyChannel({ baseUrl, name: NAME, environment });
    return key;
  }
  if (isLoopback(baseUrl)) return LOCAL_KEY;
  throw clientError(`There is no key for ${new URL(baseUrl).host}: set ${NAME} in the environment or in a .env file.`, {
    code: 'tinker-no-key',
  });
}

export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** Set to 1 by whoever trusts the network between: keys may then go over plain HTTP. */
const ALLOWANCE = 'TABWRIGHT_ALLOW_PLAIN_HTTP_KEYS';

export type KeyChannelOptions = {
  readonly baseUrl: string;
  /** Of the variable that holds the key. */
  readonly name: string;
  /** Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
};

/** Refuses to send a key in the clear to another machine. */
export function checkKeyChannel({ baseUrl, name, environment = process.env }: KeyChannelOptions): void {
  if (!URL.canParse(baseUrl)) return; // the connection says what is wrong with it
  const { protocol, host } = new URL(baseUrl);
  if (protocol !== 'http:' || isLoopback(baseUrl) || environment[ALLOWANCE] === '1') return;
  throw new TabwrightError(
    'config',
    `${name} would go to ${host} over plain HTTP, where others can read it: give an https address, leave the key away, ` +
      `or set ${ALLOWANCE}=1 if you trust the network.`,
    { code: 'key-over-plain-http', details: { host, name } },
  );
}

function fromFile(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined; // there is none, which is usual
  }
  return parseEnv(text)[NAME];
}
