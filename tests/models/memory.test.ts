// What `model info` says of memory, against what a process that does it takes at most: SmolLM2-135M, each in a process of
// its own. The estimate is for planning: within a third of the measured peak.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { hasSmolLm2, SMOLLM2_GGUF } from '../../conformance/models/places.ts';

const ENTRY = join(import.meta.dirname, 'memory-entry.ts');
const FACTOR = 4 / 3;

it.skipIf(!hasSmolLm2).each(['sampling', 'training'])(
  'of %s is what is estimated, within a third',
  { timeout: 1_800_000 },
  async (what) => {
    const args = ['--import', 'tsx', ENTRY, SMOLLM2_GGUF, what];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 1_700_000 });
    const { estimate, peak } = JSON.parse(stdout) as { readonly estimate: number; readonly peak: number };
    process.stdout.write(`${what}: estimated ${(estimate / 1e9).toFixed(2)} GB, peak ${(peak / 1e9).toFixed(2)} GB\n`);
    expect(estimate / peak).toBeLessThan(FACTOR);
    expect(peak / estimate).toBeLessThan(FACTOR);
  },
);
