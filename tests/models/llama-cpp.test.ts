// GGUF files of SmolLM2 with an adapter folded in: their tensors against the `gguf` package's, F16 in llama.cpp against
// transformers on the merged folder, Q8_0 in llama.cpp against F16. The same on all prompts: conformance/models/llama.ts.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeAdaptedSmolLm2, type AdaptedSmolLm2 } from '../../conformance/models/adapted-smollm2.ts';
import {
  agreementOf,
  describeRounded,
  judgeLlama,
  LEAST_POSITIONS,
  Q8_LEAST_AGREEMENT,
  Q8_MOST_DIVERGENCE,
  type LlamaVerdict,
} from '../../conformance/models/llama-verdict.ts';
import { hasLlamaCpp, hasPython, hasSmolLm2 } from '../../conformance/models/places.ts';

const TOKENS = 64;
const PROMPTS = 8;

describe.skipIf(!hasSmolLm2 || !hasLlamaCpp || !hasPython)('GGUF files', () => {
  let model: AdaptedSmolLm2;
  let verdict: LlamaVerdict;
  beforeAll(async () => {
    model = await writeAdaptedSmolLm2();
  }, 600_000);
  afterAll(() => model[Symbol.asyncDispose]());

  it.each(['F16', 'Q8_0'] as const)(
    'of type %s have the tensors that the gguf package writes, byte for byte',
    { timeout: 600_000 },
    async (type) => {
      const { tensors, bytes, different } = await model.compareWithPeer(type);
      expect(different).toEqual([]);
      expect(tensors).toBe(272);
      expect(bytes).toBeGreaterThan(140_000_000);
    },
  );

  it('continue in llama.cpp from F16 as the merged folder in transformers', { timeout: 1_200_000 }, async () => {
    verdict = await judgeLlama(model, { prompts: model.prompts.slice(0, PROMPTS), tokens: TOKENS });
    expect(verdict.greedy.different).toEqual([]);
    expect(verdict.greedy.identical + verdict.greedy.excused).toBe(PROMPTS);
    expect(verdict.greedy.tokens).toBeGreaterThan(PROMPTS * 10);
  });

  it.each(['ours', 'peer'] as const)('prefer in llama.cpp the same tokens from Q8_0 as from F16: %s', (whose) => {
    const found = verdict[whose];
    process.stdout.write(`${describeRounded(`Q8_0 (${whose})`, found)}\n`);
    expect(found.positions).toBeGreaterThanOrEqual(LEAST_POSITIONS);
    expect(agreementOf(found)).toBeGreaterThanOrEqual(Q8_LEAST_AGREEMENT);
    expect(found.meanKl).toBeGreaterThan(0);
    expect(found.meanKl).toBeLessThanOrEqual(Q8_MOST_DIVERGENCE);
  });

  it("is from Q8_0 exactly what it is from the gguf package's file", () => {
    expect(verdict.ours).toEqual(verdict.peer);
  });
});
