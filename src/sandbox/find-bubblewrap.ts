// Where bubblewrap is: the program that makes namespaces without being root. On the PATH, nowhere else.

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of `bwrap`, or undefined. */
export function findBubblewrap(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, 'bwrap')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // absent or not ours to run: the next folder may have one
  }
}
