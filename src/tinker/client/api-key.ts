// Where the key of a Tinker server comes from: the environment, or a `.env` file of the working folder. Reads; keeps
// nothing and prints nothing.

import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
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
  if (key !== undefined && key !== '') return key;
  if (isLoopback(baseUrl)) return LOCAL_KEY;
  throw clientError(`There is no key for ${new URL(baseUrl).host}: set ${NAME} in the environment or in a .env file.`, {
    code: 'tinker-no-key',
  });
}

export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
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
