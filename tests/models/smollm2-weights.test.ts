// The real model: our reading of its GGUF (Q4_1 and Q8_0 blocks, permuted q and k, tied head) against transformers'
// reading of the same file, every value of every tensor.

import { describe, expect, it } from 'vitest';
import { openGguf, openModelFolder } from '../../src/engine/index.ts';
import { hasSmolLm2, SMOLLM2, SMOLLM2_GGUF } from '../../conformance/models/places.ts';

describe.skipIf(!hasSmolLm2)('SmolLM2-135M-Instruct', () => {
  it(
    'has the same weights in the GGUF as in the folder that transformers made of it',
    { timeout: 300_000 },
    async () => {
      const { source: gguf, types } = await openGguf(SMOLLM2_GGUF);
      const folder = await openModelFolder(SMOLLM2);
      expect(types).toEqual(['Q4_1', 'F32', 'Q8_0']);
      expect([...gguf.names].sort()).toEqual([...folder.names].sort());
      for (const name of gguf.names) {
        expect(gguf.shapeOf(name), name).toEqual(folder.shapeOf(name));
        const [ours, theirs] = [await gguf.read(name), await folder.read(name)];
        expect(Buffer.from(ours.buffer).equals(Buffer.from(theirs.buffer)), name).toBe(true);
      }
      await gguf.close();
      await folder.close();
    },
  );

  it('has the same config in both', async () => {
    const { source: gguf } = await openGguf(SMOLLM2_GGUF);
    const folder = await openModelFolder(SMOLLM2);
    const { rope_theta, rms_norm_eps, ...config } = gguf.config as Record<string, unknown>;
    const theirs = folder.config as Record<string, unknown>;
    // transformers 5 writes the base inside `rope_parameters`.
    expect(rope_theta).toBe((theirs.rope_parameters as Record<string, unknown>).rope_theta);
    // It also keeps the 32-bit float of the file, of which ours is the shortest spelling.
    expect(Math.fround(rms_norm_eps as number)).toBe(theirs.rms_norm_eps);
    for (const [key, value] of Object.entries(config)) expect(theirs[key], key).toEqual(value);
    await gguf.close();
    await folder.close();
  });
});
