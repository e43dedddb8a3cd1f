// Running a model layer by layer against running it whole: the same numbers, in blocks of queries or not.

import { describe, expect, it } from 'vitest';
import type { LossName } from '../core/index.ts';
import { blockCount } from './blocked-attention.ts';
import type { ModelConfig } from './model-config.ts';
import { policyGradientData, randomData, sequenceRatioData, TINY } from './test-support.ts';
import { EmbeddedTrainer, type EmbeddedTrainerOptions } from './trainer.ts';
import { initWeights } from './weights.ts';

const LONG: ModelConfig = { ...TINY, maxPositions: 1200 };
const SLIDING: ModelConfig = { ...LONG, layers: 3, sliding: { window: 37, layers: [0, 2], ropeTheta: 50 } };

/** Largest difference of two gradients relative to the largest entry. */
function gradientDifference(a: EmbeddedTrainer, b: EmbeddedTrainer): number {
  const other = b.accumulatedGradient();
  let worst = 0;
  let largest = 0;
  for (const [name, values] of a.accumulatedGradient()) {
    const reference = other.get(name)!;
    values.forEach((value, i) => {
      worst = Math.max(worst, Math.abs(value - reference[i]));
      largest = Math.max(largest, Math.abs(reference[i]));
    });
  }
  return worst / largest;
}

async function compare(
  config: ModelConfig,
  lengths: readonly number[],
  options: Omit<Partial<EmbeddedTrainerOptions>, 'config'> & { readonly loss?: LossName } = {},
): Promise<void> {
  const { loss = 'cross_entropy', ...rest } = options;
  const weights = initWeights(config, 5);
  weights.flat.forEach((w, i) => (weights.flat[i] = w === 1 ? 1 : 5 * w));
  const common = { config, threads: 1, ...rest } as const;
  await using whole = new EmbeddedTrainer({ ...common, weights: weights.clone(), execution: 'whole' });
  await using layers = new EmbeddedTrainer({ ...common, weights: weights.clone(), execution: 'layers' });
  const plain = randomData('layers', lengths, config.vocabSize);
  const { logprobs } = await whole.forward(plain, 'cross_entropy');
  const data =
    loss === 'cross_entropy' ? plain : (loss === 'gspo' ? sequenceRatioData : policyGradientData)(plain, logprobs);
  const expected = await whole.forwardBackward(data, loss);
  const forward = await layers.forward(data, loss);
  const found = await layers.forwardBackward(data, loss);
  expect(forward.metrics).toEqual(found.metrics);
  const size = Math.max(1, Math.abs(expected.metrics['loss:sum']));
  expect(Math.abs(found.metrics['loss:sum'] - expected.metrics['loss:sum']) / size).toBeLessThan(1e-4);
  expected.logprobs.forEach((row, i) =>
    row.forEach((value, t) => {
      if (Number.isNaN(value)) expect(found.logprobs[i][t]).toBeNaN();
      else expect(Math.abs(found.logprobs[i][t] - value)).toBeLessThan(1e-4);
    }),
  );
  expect(gradientDifference(layers, whole)).toBeLessThan(1e-4);
  // What the forward pass alone used is no part of what is accumulated: once more doubles it.
  await layers.forwardBackward(data, loss);
  await whole.forwardBackward(data, loss);
  expect(gradientDifference(layers, whole)).toBeLessThan(1e-4);
}

describe('a model that is run layer by layer gives what it gives whole', () => {
  const lora = { rank: 2, alpha: 4, targetModules: ['q_proj' as const, 'v_proj' as const, 'down_proj' as const] };

  it('with every weight trained, in several micro-batches', () => compare(LONG, [5, 12, 30, 7], { tokenBudget: 40 }));
  it('with adapters', () => compare(LONG, [5, 12], { lora }));
  it('with a head of its own', () => compare({ ...LONG, tieEmbeddings: false }, [9, 6]));
  it('in several blocks of queries', async () => {
    expect(blockCount(700)).toBe(8);
    await compare(LONG, [700, 650], { tokenBudget: 1400 });
  });
  it('in several blocks, where some layers see a window', () => compare(SLIDING, [601], { lora }));
  it('in blocks shorter than the window', () =>
    compare({ ...SLIDING, sliding: { ...SLIDING.sliding!, window: 300 } }, [601]));
  for (const loss of ['importance_sampling', 'ppo', 'cispo', 'dro', 'gspo'] as const)
    it(`with ${loss}, where all or only some positions are scored`, async () => {
      await compare(TINY, [15, 12, 7], { loss, scored: 'all' });
      await compare(TINY, [15, 12, 7], { loss, scored: 'weighted' });
    });

  it('and keeps nothing of a call that was aborted half-way', async () => {
    await using model = EmbeddedTrainer.fresh(TINY, 1, { threads: 1, execution: 'layers', tokenBudget: 1 });
    const data = randomData('abort', [5, 6], TINY.vocabSize);
    const controller = new AbortController();
    const failing = model.forwardBackward(data, 'cross_entropy', {}, { signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(failing).rejects.toMatchObject({ name: 'AbortError' });
    for (const values of model.accumulatedGradient().values()) expect(values.every((g) => g === 0)).toBe(true);
  });
});
