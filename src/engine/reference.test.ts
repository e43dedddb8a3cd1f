// Whole models against an independent implementation: the same transformer written from its definition in jax-js,
// whose automatic differentiation shares no code with ours.

import { defaultDevice, init, nn, numpy as np, valueAndGrad } from '@jax-js/jax';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Datum } from '../core/index.ts';
import { loraParts, type LoraConfig } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { randomData, TINY } from './test-support.ts';
import { EmbeddedTrainer } from './trainer.ts';
import { initWeights, type Weights } from './weights.ts';

type Parameters = Record<string, np.Array>;

beforeAll(async () => {
  await init('wasm');
  defaultDevice('wasm');
});

/** Weighted cross-entropy summed over one row, by the textbook. Arrays are consumed by use; `.ref` keeps one alive. */
function referenceLoss(p: Parameters, datum: Datum, config: ModelConfig, lora?: LoraConfig): np.Array {
  const { heads, kvHeads, headDim, vocabSize, layers, taps } = config;
  const get = (name: string): np.Array => p[name].ref;
  const { tokens } = datum;
  const time = tokens.length;
  const norm = (x: np.Array, w: np.Array): np.Array => {
    const scale = np.sqrt(np.mean(np.square(x.ref), -1, { keepdims: true }).add(config.rmsNormEps));
    return x.div(scale).mul(w);
  };
  const project = (x: np.Array, tensor: string): np.Array => {
    const y = np.matmul(x.ref, get(`${tensor}.weight`).transpose());
    if (!lora || !(`${tensor}.lora_A.weight` in p)) {
      x.dispose();
      return y;
    }
    const low = np.matmul(x, get(`${tensor}.lora_A.weight`).transpose());
    return y.add(np.matmul(low, get(`${tensor}.lora_B.weight`).transpose()).mul(lora.alpha / lora.rank));
  };
  const lookUp = (table: string, ids: readonly number[]): np.Array =>
    np.matmul(nn.oneHot(np.array([...ids], { dtype: np.int32 }), vocabSize), get(table));
  const half = headDim / 2;
  const angle = (f: (x: number) => number): np.Array =>
    np
      .array(
        Array.from({ length: time * half }, (_, i) =>
          f(Math.floor(i / half) / config.ropeTheta ** ((i % half) / half)),
        ),
      )
      .reshape([time, 1, half]);
  const rotate = (x: np.Array): np.Array => {
    const [a, b] = np.split(x, 2, -1) as [np.Array, np.Array];
    const left = a.ref.mul(angle(Math.cos)).sub(b.ref.mul(angle(Math.sin)));
    return np.concatenate([left, b.mul(angle(Math.cos)).add(a.mul(angle(Math.sin)))], -1);
  };
  const mask = np
    .array(Array.from({ length: time * time }, (_, i) => (i % time > Math.floor(i / time) ? -1e9 : 0)))
    .reshape([1, time, time]);

  let x = lookUp('model.embed_tokens.weight', tokens);
  if (taps > 1) {
    const shifted = (distance: number): np.Array =>
      np
        .array(Array.from({ length: time * time }, (_, i) => (i % time === Math.floor(i / time) - distance ? 1 : 0)))
        .reshape([time, time]);
    const rows = np.split(get('model.embed_conv.weight'), taps, 0);
    x = rows.map((row, distance) => np.matmul(shifted(distance), x.ref).mul(row)).reduce((a, b) => a.add(b));
  }
  for (let layer = 0; layer < layers; layer++) {
    const prefix = `model.layers.${layer}`;
    const h = norm(x.ref, get(`${prefix}.input_layernorm.weight`));
    const q = rotate(project(h.ref, `${prefix}.self_attn.q_proj`).reshape([time, heads, headDim]));
    const k = rotate(project(h.ref, `${prefix}.self_attn.k_proj`).reshape([time, kvHeads, headDim]));
    const v = project(h, `${prefix}.self_attn.v_proj`).reshape([time, kvHeads, headDim]);
    const spread = (y: np.Array): np.Array => np.repeat(y, heads / kvHeads, 1);
    const scores = np
      .matmul(q.transpose([1, 0, 2]), spread(k).transpose([1, 2, 0]))
      .div(Math.sqrt(headDim))
      .add(mask.ref);
    const context = np.matmul(nn.softmax(scores, -1), spread(v).transpose([1, 0, 2])).transpose([1, 0, 2]);
    x = x.add(project(context.reshape([time, heads * headDim]), `${prefix}.self_attn.o_proj`));
    const m = norm(x.ref, get(`${prefix}.post_attention_layernorm.weight`));
    const gate = nn.silu(project(m.ref, `${prefix}.mlp.gate_proj`));
    x = x.add(project(gate.mul(project(m, `${prefix}.mlp.up_proj`)), `${prefix}.mlp.down_proj`));
  }
  mask.dispose();
  const output = get(config.tieEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight');
  const logits = np.matmul(norm(x, get('model.norm.weight')), output.transpose());
  const chosen = nn.oneHot(np.array([...datum.lossInputs.targetTokens], { dtype: np.int32 }), vocabSize);
  const weights = np.array([...datum.lossInputs.weights!]).reshape([time, 1]);
  return nn.logSoftmax(logits, -1).mul(chosen).mul(weights).sum().mul(-1);
}

async function reference(
  parameters: readonly Weights[],
  data: readonly Datum[],
  config: ModelConfig,
  lora?: LoraConfig,
): Promise<{ loss: number; gradient: Map<string, Float32Array> }> {
  const tensors = parameters.flatMap((weights) => weights.tensors());
  const gradient = new Map(tensors.map(({ name, data: values }) => [name, new Float32Array(values.length)]));
  let loss = 0;
  for (const datum of data) {
    const p: Parameters = Object.fromEntries(
      tensors.map(({ name, shape, data: values }) => [name, np.array(values.slice()).reshape([...shape])]),
    );
    const [value, slopes] = valueAndGrad((q: Parameters) => referenceLoss(q, datum, config, lora))(p) as [
      np.Array,
      Parameters,
    ];
    loss += ((await value.data()) as Float32Array)[0];
    for (const [name, slope] of Object.entries(slopes)) {
      const sum = gradient.get(name)!;
      const entries = (await slope.data()) as Float32Array;
      entries.forEach((entry, i) => (sum[i] += entry));
    }
  }
  return { loss, gradient };
}

/** Largest difference of two gradients relative to the largest entry of the reference, over all tensors. */
function relativeError(found: ReadonlyMap<string, Float32Array>, expected: ReadonlyMap<string, Float32Array>): number {
  let worst = 0;
  let largest = 0;
  for (const [name, values] of found) {
    const reference = expected.get(name)!;
    values.forEach((value, i) => (worst = Math.max(worst, Math.abs(value - reference[i]))));
    largest = Math.max(largest, ...reference.map(Math.abs));
  }
  return worst / largest;
}

/** Weights large enough for every part of the model to matter. */
function strongWeights(config: ModelConfig): Weights {
  const weights = initWeights(config, 7);
  for (let i = 0; i < weights.flat.length; i++) weights.flat[i] *= weights.flat[i] === 1 ? 1 : 12;
  return weights;
}

const MODELS: Record<string, ModelConfig> = {
  'tied head, grouped queries': TINY,
  'untied head': { ...TINY, tieEmbeddings: false },
  'one key head a query head': { ...TINY, kvHeads: 4 },
  'convolved embeddings': { ...TINY, taps: 3 },
};

describe('loss and gradient of whole models agree with an independent implementation', () => {
  for (const [name, config] of Object.entries(MODELS)) {
    it(name, async () => {
      const weights = strongWeights(config);
      const data = randomData(name, [5, 9, 9], config.vocabSize);
      const expected = await reference([weights], data, config);
      await using trainer = new EmbeddedTrainer({ config, weights: weights.clone(), threads: 1 });
      const { metrics } = await trainer.forwardBackward(data, 'cross_entropy');
      expect(metrics['loss:sum'] / expected.loss).toBeCloseTo(1, 5);
      expect(relativeError(trainer.accumulatedGradient(), expected.gradient)).toBeLessThan(1e-4);
    });
  }

  it('adapters on some of the matrices', async () => {
    const lora: LoraConfig = { rank: 3, alpha: 5, targetModules: ['q_proj', 'v_proj', 'o_proj', 'up_proj'] };
    const weights = strongWeights(TINY);
    const data = randomData('adapters', [6, 8], TINY.vocabSize);
    await using trainer = new EmbeddedTrainer({ config: TINY, weights: weights.clone(), lora, seed: 3, threads: 1 });
    const adapters = trainer.adapterWeights()!;
    // A fresh B is zero and would hide A's gradient.
    for (const part of loraParts(weights.specs, lora))
      adapters.view(part.b).forEach((_, i, b) => (b[i] = 0.3 * Math.sin(i + 1)));
    const expected = await reference([weights, adapters], data, TINY, lora);
    await trainer.forwardBackward(data, 'cross_entropy');
    const found = trainer.accumulatedGradient();
    expect([...found.keys()].every((tensor) => tensor.includes('lora_'))).toBe(true);
    expect(relativeError(found, expected.gradient)).toBeLessThan(1e-4);
  });
});
