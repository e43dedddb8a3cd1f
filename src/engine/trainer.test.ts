import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LossName } from '../core/index.ts';
import { policyGradientData, randomData, sequenceRatioData, TINY } from './test-support.ts';
import { EmbeddedTrainer, type EmbeddedTrainerOptions } from './trainer.ts';

const DATA = randomData('training', [5, 12, 7, 7, 3], TINY.vocabSize);
const STEP = { learningRate: 0.01, weightDecay: 0.1, gradClipNorm: 1 };

function trainer(options: Omit<EmbeddedTrainerOptions, 'config' | 'weights'> = {}): EmbeddedTrainer {
  return EmbeddedTrainer.fresh(TINY, 5, { threads: 1, ...options });
}

function gradientOf(model: EmbeddedTrainer): Float32Array {
  return Float32Array.from([...model.accumulatedGradient().values()].flatMap((part) => [...part]));
}

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let worst = 0;
  for (let i = 0; i < a.length; i++) worst = Math.max(worst, Math.abs(a[i] - b[i]));
  return worst;
}

describe('the embedded trainer', () => {
  it('gives the same gradient for one big batch, small micro-batches and accumulated calls', async () => {
    await using big = trainer({ tokenBudget: 1000 });
    await using small = trainer({ tokenBudget: 1 });
    await using twice = trainer();
    await big.forwardBackward(DATA, 'cross_entropy');
    await small.forwardBackward(DATA, 'cross_entropy');
    await twice.forwardBackward(DATA.slice(0, 2), 'cross_entropy');
    await twice.forwardBackward(DATA.slice(2), 'cross_entropy');
    expect(largestDifference(gradientOf(big), gradientOf(small))).toBeLessThan(2e-6);
    expect(largestDifference(gradientOf(big), gradientOf(twice))).toBeLessThan(2e-6);
  });

  it('sums the loss over tokens: the same row twice counts twice', async () => {
    await using model = trainer();
    const one = await model.forward(DATA.slice(0, 1), 'cross_entropy');
    const two = await model.forward([DATA[0], DATA[0]], 'cross_entropy');
    expect(two.metrics['loss:sum']).toBeCloseTo(2 * one.metrics['loss:sum'], 4);
    const weights = DATA[0].lossInputs.weights!;
    expect(one.metrics['loss:sum']).toBeCloseTo(-weights.reduce((sum, w, i) => sum + w * one.logprobs[0][i], 0), 4);
  });

  it('leaves the accumulator alone in a forward pass, and clears it in an optimiser step', async () => {
    await using model = trainer();
    await model.forward(DATA, 'cross_entropy');
    expect(gradientOf(model).every((g) => g === 0)).toBe(true);
    await model.forwardBackward(DATA, 'cross_entropy');
    expect(gradientOf(model).some((g) => g !== 0)).toBe(true);
    await model.optimStep(STEP);
    expect(gradientOf(model).every((g) => g === 0)).toBe(true);
    expect(model.step).toBe(1);
  });

  it('learns: a loss that is followed downhill falls', async () => {
    await using model = trainer();
    const data = DATA.map(({ tokens, lossInputs }) => ({
      tokens,
      lossInputs: { ...lossInputs, weights: tokens.map(() => 1) },
    }));
    const before = (await model.forward(data, 'cross_entropy')).metrics['loss:sum'];
    for (let i = 0; i < 60; i++) {
      await model.forwardBackward(data, 'cross_entropy');
      await model.optimStep({ learningRate: 0.01 });
    }
    expect((await model.forward(data, 'cross_entropy')).metrics['loss:sum']).toBeLessThan(0.1 * before);
  });

  it('reaches any loss of log-probabilities through the custom call: importance sampling gives the same gradient both ways', async () => {
    await using native = trainer();
    await using custom = trainer();
    const { logprobs } = await native.forward(DATA, 'cross_entropy');
    const data = policyGradientData(DATA, logprobs);
    const direct = await native.forwardBackward(data, 'importance_sampling');
    const ratio = (lp: number, row: number, i: number): number =>
      Math.exp(lp - data[row].lossInputs.logprobs![i]) * data[row].lossInputs.advantages![i];
    const targets = data.map(({ tokens, lossInputs: { targetTokens } }) => ({ tokens, lossInputs: { targetTokens } }));
    const result = await custom.forwardBackwardCustom(targets, (rows) => ({
      loss: rows.reduce((sum, lps, row) => sum - lps.reduce((s, lp, i) => s + ratio(lp, row, i), 0), 0),
      gradients: rows.map((lps, row) => lps.map((lp, i) => -ratio(lp, row, i))),
      metrics: { 'my/metric': 3 },
    }));
    expect(result.metrics['my/metric']).toBe(3);
    expect(result.metrics['loss:sum']).toBeCloseTo(direct.metrics['loss:sum'], 3);
    expect(largestDifference(gradientOf(native), gradientOf(custom))).toBeLessThan(1e-5);
  });

  for (const loss of ['importance_sampling', 'ppo', 'cispo', 'dro'] as const satisfies readonly LossName[]) {
    it(`skips targets without advantage without changing the gradient of ${loss}`, async () => {
      await using all = trainer({ scored: 'all' });
      await using weighted = trainer({ scored: 'weighted' });
      const { logprobs } = await all.forward(DATA, 'cross_entropy');
      const data = policyGradientData(DATA, logprobs).map(({ tokens, lossInputs }) => {
        return {
          tokens,
          lossInputs: { ...lossInputs, advantages: lossInputs.advantages!.map((a, i) => (i % 3 ? a : 0)) },
        };
      });
      await all.forwardBackward(data, loss);
      await weighted.forwardBackward(data, loss);
      expect(largestDifference(gradientOf(all), gradientOf(weighted))).toBeLessThan(1e-6);
    });
  }

  for (const scored of ['all', 'weighted'] as const) {
    it(`gives gspo's gradient as its closed form does through the custom call, whatever shares a micro-batch, ${scored} positions scored`, async () => {
      await using native = trainer({ scored });
      await using small = trainer({ scored, tokenBudget: 1 });
      await using custom = trainer();
      const { logprobs } = await custom.forward(DATA, 'cross_entropy');
      const data = sequenceRatioData(DATA, logprobs);
      const bounds = { clipLow: 0.995, clipHigh: 1.005 };
      const direct = await native.forwardBackward(data, 'gspo', bounds);
      await small.forwardBackward(data, 'gspo', bounds);
      const targets = data.map(({ tokens, lossInputs: { targetTokens } }) => ({
        tokens,
        lossInputs: { targetTokens },
      }));
      let heldRows = 0;
      const result = await custom.forwardBackwardCustom(targets, (rows) => {
        let loss = 0;
        const gradients = rows.map((lps, row) => {
          const { logprobs: q, advantages, sequenceRatioMask: mask } = data[row].lossInputs;
          const counted = mask!.flatMap((m, t) => (m ? [t] : []));
          const mean = (f: (t: number) => number): number => counted.reduce((sum, t) => sum + f(t), 0) / counted.length;
          const ratio = Math.exp(mean((t) => lps[t] - q![t]));
          const advantage = mean((t) => advantages![t]);
          const clipped = Math.min(Math.max(ratio, bounds.clipLow), bounds.clipHigh);
          loss -= Math.min(ratio * advantage, clipped * advantage);
          const held = clipped * advantage < ratio * advantage;
          if (held) heldRows++;
          return mask!.map((m) => (m && !held ? (-advantage * ratio) / counted.length : 0));
        });
        return { loss, gradients };
      });
      expect(heldRows).toBeGreaterThan(0);
      expect(heldRows).toBeLessThan(DATA.length);
      expect(direct.metrics['loss:sum']).toBeCloseTo(result.metrics['loss:sum'], 4);
      expect(largestDifference(gradientOf(native), gradientOf(custom))).toBeLessThan(1e-5);
      expect(largestDifference(gradientOf(small), gradientOf(custom))).toBeLessThan(1e-5);
    });
  }

  it('goes on from a saved state exactly: the next step is identical to the last bit', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tabwright-'));
    try {
      for (const lora of [undefined, { rank: 2, alpha: 4, targetModules: ['q_proj', 'down_proj'] as const }]) {
        const options = lora ? { lora: { ...lora, targetModules: [...lora.targetModules] } } : {};
        await using first = trainer(options);
        for (let i = 0; i < 3; i++) {
          await first.forwardBackward(DATA, 'cross_entropy');
          await first.optimStep(STEP);
        }
        const path = join(folder, lora ? 'lora' : 'full');
        await first.saveState(path);
        await using second = EmbeddedTrainer.fresh(TINY, 99, { threads: 1, ...options });
        await second.loadState(path);
        expect(second.step).toBe(3);
        for (const model of [first, second]) {
          await model.forwardBackward(DATA, 'cross_entropy');
          await model.optimStep(STEP);
        }
        const [a, b] = [await first.forward(DATA, 'cross_entropy'), await second.forward(DATA, 'cross_entropy')];
        expect(b.logprobs).toEqual(a.logprobs);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('keeps nothing of a call that was aborted half-way', async () => {
    await using model = trainer({ tokenBudget: 1 });
    await expect(
      model.forwardBackward(DATA, 'cross_entropy', {}, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ name: 'AbortError' });
    expect(gradientOf(model).every((g) => g === 0)).toBe(true);
  });

  it('refuses a setting that the loss does not have', async () => {
    await using model = trainer();
    await expect(model.forwardBackward(DATA, 'cross_entropy', { clipLow: 0.5 })).rejects.toMatchObject({
      code: 'unknown-loss-setting',
    });
  });

  for (const threads of [1, 2]) {
    it(`takes K targets a token like K rows with one each, on ${threads} threads`, async () => {
      await using together = trainer({ threads });
      await using apart = trainer({ threads });
      const targetsOf = (k: number, tokens: readonly number[]): number[] => tokens.map((t) => (t + k) % TINY.vocabSize);
      const weightOf = (k: number, position: number): number => (k === 1 && position === 2 ? 0 : 0.5 - 0.3 * k);
      const K = [0, 1, 2];
      const single = K.map((k) =>
        DATA.map(({ tokens }) => {
          return {
            tokens,
            lossInputs: { targetTokens: targetsOf(k, tokens), weights: tokens.map((_, t) => weightOf(k, t)) },
          };
        }),
      );
      const joint = DATA.map(({ tokens }, row) => {
        const flat = (name: 'targetTokens' | 'weights'): number[] =>
          tokens.flatMap((_, t) => K.map((k) => single[k][row].lossInputs[name][t]));
        return { tokens, lossInputs: { targetTokens: flat('targetTokens'), weights: flat('weights') } };
      });
      const result = await together.forwardBackward(joint, 'cross_entropy');
      let loss = 0;
      for (const k of K) {
        const part = await apart.forwardBackward(single[k], 'cross_entropy');
        loss += part.metrics['loss:sum'];
        part.logprobs.forEach((row, i) => {
          const column = result.logprobs[i].filter((_, entry) => entry % K.length === k);
          expect(largestDifference(column, row)).toBeLessThan(1e-5);
        });
      }
      expect(result.metrics['loss:sum']).toBeCloseTo(loss, 4);
      expect(largestDifference(gradientOf(together), gradientOf(apart))).toBeLessThan(1e-5);
    });
  }

  it('refuses inputs that a custom loss would not see', async () => {
    await using model = trainer();
    const loss = (): { loss: number; gradients: number[][] } => ({ loss: 0, gradients: [] });
    const rows = DATA.map(({ tokens, lossInputs: { targetTokens } }) => {
      return { tokens, lossInputs: { targetTokens, advantages: tokens.map(() => 1) } };
    });
    await expect(model.forwardBackwardCustom(rows, loss)).rejects.toMatchObject({ code: 'unknown-loss-input' });
  });

  it.each([
    { learningRate: NaN },
    { learningRate: -1 },
    { learningRate: 0.1, beta1: 1 },
    { learningRate: 0.1, beta2: 1 },
    { learningRate: 0.1, eps: -1 },
    { learningRate: 0.1, weightDecay: Infinity },
  ])('refuses to step with %j, and keeps weights and gradient', async (params) => {
    await using model = trainer();
    await model.forwardBackward(DATA, 'cross_entropy');
    const gradient = gradientOf(model);
    const before = (await model.forward(DATA, 'cross_entropy')).logprobs;
    await expect(model.optimStep(params)).rejects.toMatchObject({ code: 'bad-adam-params' });
    expect((await model.forward(DATA, 'cross_entropy')).logprobs).toEqual(before);
    expect(gradientOf(model)).toEqual(gradient);
  });

  it('says so when a gradient is not finite, and does not take the step', async () => {
    await using model = trainer();
    const before = (await model.forward(DATA, 'cross_entropy')).logprobs;
    const rows = DATA.map(({ tokens, lossInputs }) => ({
      tokens,
      lossInputs: {
        targetTokens: lossInputs.targetTokens,
        logprobs: tokens.map(() => -1000),
        advantages: tokens.map(() => 1),
      },
    }));
    await model.forwardBackward(rows, 'importance_sampling');
    await expect(model.optimStep(STEP)).rejects.toMatchObject({ code: 'gradient-not-finite' });
    expect((await model.forward(DATA, 'cross_entropy')).logprobs).toEqual(before);
    expect(model.step).toBe(0);
  });
});

describe('low-rank adapters', () => {
  const lora = {
    rank: 2,
    alpha: 4,
    targetModules: ['q_proj', 'k_proj', 'o_proj', 'gate_proj', 'down_proj'] as (
      'q_proj' | 'k_proj' | 'o_proj' | 'gate_proj' | 'down_proj'
    )[],
  };

  it('of no rank are refused', () => {
    expect(() => trainer({ lora: { rank: 0, alpha: 1, targetModules: ['q_proj'] } })).toThrowError(/rank/);
  });

  it('start at the base model, and train only themselves', async () => {
    await using base = trainer();
    await using adapted = trainer({ lora });
    const expected = await base.forward(DATA, 'cross_entropy');
    const found = await adapted.forward(DATA, 'cross_entropy');
    DATA.forEach((_, row) => expect(largestDifference(found.logprobs[row], expected.logprobs[row])).toBeLessThan(1e-6));
    expect(adapted.trainableCount).toBeLessThan(base.trainableCount / 2);
  });

  it('give the same model merged into the weights as beside them', async () => {
    await using adapted = trainer({ lora });
    for (let i = 0; i < 10; i++) {
      await adapted.forwardBackward(DATA, 'cross_entropy');
      await adapted.optimStep({ learningRate: 0.05 });
    }
    const beside = await adapted.forward(DATA, 'cross_entropy');
    await using sampler = await adapted.saveWeightsAndGetSampler();
    for (const [row, { tokens, lossInputs }] of DATA.entries()) {
      const merged = await sampler.computeLogprobs([...tokens, lossInputs.targetTokens.at(-1)!]);
      expect(largestDifference(merged.slice(1), beside.logprobs[row])).toBeLessThan(1e-5);
    }
  });
});
