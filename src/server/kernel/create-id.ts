// Names of pools and browsers.

import { randomBytes } from 'node:crypto';

/** As long as Kernel's, and not to be guessed. */
export function createId(): string {
  return randomBytes(12).toString('hex');
}
