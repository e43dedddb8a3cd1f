import { describe, expect, it } from 'vitest';
import { loraParts, loraSpecs, mergeLora, parseLoraConfig, type LoraConfig } from './lora.ts';
import { TINY } from './test-support.ts';
import { drawWeights, initWeights } from './weights.ts';

const LORA: LoraConfig = { rank: 2, alpha: 6, targetModules: ['k_proj', 'up_proj'] };

describe('merging adapters', () => {
  const base = initWeights(TINY, 1);
  const parts = loraParts(base.specs, LORA);
  const adapters = drawWeights(loraSpecs(parts, LORA), 2);
  for (const part of parts) adapters.view(part.b).fill(0.5);

  it('adds alpha / rank times B A to the adapted matrices and to no others', () => {
    const merged = base.clone();
    mergeLora(merged, adapters, parts, LORA);
    const changed = new Set(
      merged
        .tensors()
        .filter(({ data }, i) => data.some((value, j) => value !== base.tensors()[i].data[j]))
        .map(({ name }) => name),
    );
    expect([...changed].sort()).toEqual(parts.map((part) => part.a.replace('.lora_A', '')).sort());
    // Entry (0, 0) of the first adapted matrix by hand: scale 3, B is 0.5 everywhere.
    const [part] = parts;
    const a = adapters.view(part.a);
    expect(merged.view(part.weight)[0] - base.view(part.weight)[0]).toBeCloseTo(
      3 * (0.5 * a[0] + 0.5 * a[part.columns]),
      6,
    );
  });

  it('is undone by unmerging, to rounding', () => {
    const there = base.clone();
    mergeLora(there, adapters, parts, LORA);
    mergeLora(there, adapters, parts, LORA, -1);
    there.flat.forEach((value, i) => expect(Math.abs(value - base.flat[i])).toBeLessThan(1e-6));
  });

  it('names the setting that is wrong', () => {
    expect(() => parseLoraConfig({ rank: 0, alpha: 1, targetModules: ['q_proj'] })).toThrowError(/rank/);
    expect(() => parseLoraConfig({ rank: 1, alpha: 1, targetModules: ['nonsense'] })).toThrowError(/targetModules/);
  });
});
