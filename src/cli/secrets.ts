// Keys for other people's services: from the environment, or from a file `.env` in the working folder. They are handed to
// whoever needs them and written nowhere.

import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { TabwrightError } from '../core/index.ts';

export type SecretOptions = {
  /** Default `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Default `.env`. */
  readonly file?: string;
};

/** The environment first. Undefined where neither has it. */
export async function readSecret(
  name: string,
  { environment = process.env, file = '.env' }: SecretOptions = {},
): Promise<string | undefined> {
  const own = environment[name];
  if (own !== undefined && own !== '') return own;
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new TabwrightError('config', `${file} cannot be read: ${(error as Error).message}`, {
      code: 'env-unreadable',
      cause: error,
    });
  }
  const value = parseEnv(text)[name];
  return value === undefined || value === '' ? undefined : value;
}
