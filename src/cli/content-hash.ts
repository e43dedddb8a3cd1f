// The version of an environment that is made of a file: a short hash of its content, so that figures of other content do
// not compare. No proof of anything: 48 bits.

import { createHash } from 'node:crypto';

export function contentHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
