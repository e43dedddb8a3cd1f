// Stack traces as their readers want them: frames of cells, of packages and of Node's public functions. Those of this
// program and of the machinery beneath it say nothing about the cell.

import { fileURLToPath } from 'node:url';

/** What the realm's own helper code is called in traces. */
export const REALM_FILE = 'browser-repl-realm';

const FOLDER = new URL('.', import.meta.url);
// As Node writes it, and as source maps do.
const OWN = [FOLDER.href, fileURLToPath(FOLDER), REALM_FILE];
const MACHINERY = /node:internal\/(?:vm|modules|process|timers)\b/;

export function withoutOwnFrames(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !isOwnFrame(line))
    .join('\n');
}

function isOwnFrame(line: string): boolean {
  return /^\s+at /.test(line) && (MACHINERY.test(line) || OWN.some((place) => line.includes(place)));
}
