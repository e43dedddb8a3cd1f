// A result file that was asked for by its path: written whole or not at all, its folder made where it is missing.

import { dirname } from 'node:path';
import { TabwrightError, type JsonObject } from '../core/index.ts';
import { makeFolder, writeFileAtomic } from '../util/index.ts';

export async function writeOutput(path: string, content: JsonObject | string | Uint8Array): Promise<void> {
  const isReady = typeof content === 'string' || content instanceof Uint8Array;
  const data = isReady ? content : `${JSON.stringify(content, undefined, 1)}\n`;
  try {
    await makeFolder(dirname(path));
    await writeFileAtomic(path, data);
  } catch (cause) {
    throw new TabwrightError('store', `${path} cannot be written: ${(cause as Error).message}`, {
      code: 'output-not-written',
      details: { path },
      cause,
    });
  }
}
