// Identifiers in the form of CUID2: 24 characters, a letter first, the rest letters and digits.

import { randomInt } from 'node:crypto';

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';

export function createReplId(): string {
  let id = DIGITS[10 + randomInt(26)];
  while (id.length < 24) id += DIGITS[randomInt(36)];
  return id;
}
