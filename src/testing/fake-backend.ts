// A trainer over a tabular model with Tinker's exact semantics: losses are sums over tokens, gradients accumulate
// until `optimStep`, a sampler is a snapshot, Adam with decoupled decay. Small enough to learn a toy task in a
// second, so that whole training loops can be tested; not a model of anything.

import { TabwrightError, type Datum, type LossConfig, type LossName, type Trainer } from '../core/index.ts';
import { lossValue } from '../algorithms/index.ts';
import { cloneTable, createTabularModel, type Table, type TabularModelOptions } from './tabular-model.ts';
import { createTabularSampler } from './tabular-sampler.ts';

export type FakeBackendOptions = TabularModelOptions & {
  /** Where states are saved, by path; give the same map to two backends and they share a disk. Default: its own. */
  readonly disk?: Map<string, string>;
};

type Saved = { step: number; weights: Entries; first: Entries; second: Entries };
type Entries = readonly (readonly [string, readonly number[]])[];

/** The trainer, and what tests want to see of it. */
export interface FakeTrainer extends Trainer {
  /** A copy of the learned weights. */
  weights(): Table;
}

export function createFakeTrainer(options: FakeBackendOptions): FakeTrainer {
  const { vocabularySize, disk = new Map<string, string>() } = options;
  const model = createTabularModel(options);
  let weights: Table = new Map();
  let first: Table = new Map();
  let second: Table = new Map();
  let gradients: Table = new Map();
  let step = 0;
  let logProbabilities = model.freeze(weights);
  const row = (table: Table, key: string): Float64Array => {
    let found = table.get(key);
    if (found === undefined) table.set(key, (found = new Float64Array(vocabularySize)));
    return found;
  };

  const forward = (datum: Datum): Float32Array =>
    Float32Array.from(datum.lossInputs.targetTokens, (target, t) => {
      const distribution = logProbabilities(model.key(datum.tokens.slice(0, t + 1)));
      return distribution[target];
    });

  /** Adds slope * d logprob / d logits at every position. */
  const backward = (datum: Datum, slopes: readonly number[] | Float32Array): void => {
    datum.lossInputs.targetTokens.forEach((target, t) => {
      if (slopes[t] === 0) return;
      const key = model.key(datum.tokens.slice(0, t + 1));
      const distribution = logProbabilities(key);
      const gradient = row(gradients, key);
      distribution.forEach((logprob, token) => {
        gradient[token] += slopes[t] * ((token === target ? 1 : 0) - Math.exp(logprob));
      });
    });
  };

  const evaluate = (data: readonly Datum[], loss: LossName, config: LossConfig | undefined, learn: boolean) => {
    let sum = 0;
    const logprobs = data.map((datum) => {
      checkDatum(datum, loss);
      const found = forward(datum);
      const { weights: weight, logprobs: sampled, advantages, sequenceRatioMask } = datum.lossInputs;
      const terms = {
        logprobs: found,
        samplerLogprobs: sampled,
        advantages: weight ?? advantages ?? [],
        sequenceRatioMask,
      };
      const value = lossValue(loss, terms, config);
      sum += value.loss;
      if (learn) backward(datum, value.gradient);
      return found;
    });
    return { logprobs, metrics: { 'loss:sum': sum } };
  };

  return {
    get step() {
      return step;
    },
    weights: () => cloneTable(weights),
    async forward(data, loss, config, call) {
      call?.signal?.throwIfAborted();
      return evaluate(data, loss, config, false);
    },
    async forwardBackward(data, loss, config, call) {
      call?.signal?.throwIfAborted();
      return evaluate(data, loss, config, true);
    },
    async forwardBackwardCustom(data, loss, call) {
      call?.signal?.throwIfAborted();
      const logprobs = data.map(forward);
      const custom = loss(logprobs);
      data.forEach((datum, i) => backward(datum, custom.gradients[i]));
      return { logprobs, metrics: { 'loss:sum': custom.loss, ...custom.metrics } };
    },
    async optimStep(params, call) {
      call?.signal?.throwIfAborted();
      const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-12, weightDecay = 0, gradClipNorm = 0 } = params;
      const norm = Math.sqrt([...gradients.values()].flatMap((g) => [...g]).reduce((sum, g) => sum + g * g, 0));
      const scale = gradClipNorm > 0 && norm > gradClipNorm ? gradClipNorm / norm : 1;
      step++;
      for (const key of new Set([...weights.keys(), ...gradients.keys()])) {
        const [w, m, v] = [row(weights, key), row(first, key), row(second, key)];
        const gradient = gradients.get(key);
        for (let i = 0; i < vocabularySize; i++) {
          const g = (gradient?.[i] ?? 0) * scale;
          m[i] = beta1 * m[i] + (1 - beta1) * g;
          v[i] = beta2 * v[i] + (1 - beta2) * g * g;
          const update = m[i] / (1 - beta1 ** step) / (Math.sqrt(v[i] / (1 - beta2 ** step)) + eps);
          w[i] = w[i] * (1 - learningRate * weightDecay) - learningRate * update;
        }
      }
      gradients = new Map();
      logProbabilities = model.freeze(weights);
      return { metrics: { 'optim/grad_norm': norm } };
    },
    async saveState(path, call) {
      call?.signal?.throwIfAborted();
      const saved: Saved = { step, weights: entries(weights), first: entries(first), second: entries(second) };
      disk.set(path, JSON.stringify(saved));
      return path;
    },
    async removeState(path, call) {
      call?.signal?.throwIfAborted();
      disk.delete(path);
    },
    async loadState(path, call) {
      call?.signal?.throwIfAborted();
      const text = disk.get(path);
      if (text === undefined) {
        throw new TabwrightError('backend', `There is no checkpoint at ${path}.`, {
          code: 'checkpoint-not-found',
          details: { path },
        });
      }
      const saved = JSON.parse(text) as Saved;
      [weights, first, second] = [table(saved.weights), table(saved.first), table(saved.second)];
      gradients = new Map();
      logProbabilities = model.freeze(weights);
      step = saved.step;
    },
    async saveWeightsForSampler(path, call) {
      call?.signal?.throwIfAborted();
      disk.set(path, JSON.stringify({ step, weights: entries(weights), first: [], second: [] } satisfies Saved));
      return path;
    },
    async saveWeightsAndGetSampler(call) {
      call?.signal?.throwIfAborted();
      return createTabularSampler({ model, table: cloneTable(weights), version: step });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** Refuses what Tinker refuses: inputs of the wrong loss, or of another length than the tokens. */
function checkDatum(datum: Datum, loss: LossName): void {
  const needed = loss === 'cross_entropy' ? (['weights'] as const) : (['logprobs', 'advantages'] as const);
  const mask = loss === 'gspo' ? (['sequenceRatioMask'] as const) : [];
  for (const name of ['targetTokens', ...needed, ...mask] as const) {
    const found = datum.lossInputs[name]?.length;
    if (found !== datum.tokens.length) {
      throw new TabwrightError(
        'backend',
        `${loss} needs ${name} for each of the ${datum.tokens.length} tokens, found ${found ?? 'none'}.`,
        { code: 'bad-datum', details: { loss, input: name } },
      );
    }
  }
}

function entries(of: Table): Entries {
  return [...of].map(([key, values]) => [key, [...values]]);
}

function table(of: Entries): Table {
  return new Map(of.map(([key, values]) => [key, Float64Array.from(values)]));
}
