// Named weights on one flat buffer, so that the optimiser, snapshots and gradient sums are single loops.

import { createRng, type Rng } from '../util/index.ts';
import type { ModelConfig } from './model-config.ts';
import type { Feeds } from './session.ts';

export type WeightSpec = {
  /** The engine's name. */
  readonly name: string;
  /** The name in files. */
  readonly tensor: string;
  readonly shape: readonly number[];
  /** Normal distribution at initialisation. */
  readonly init: { readonly mean: number; readonly std: number };
};

const ONE = { mean: 1, std: 0 };
const ZERO = { mean: 0, std: 0 };
const SMALL = { mean: 0, std: 0.02 };
/** Unequal from the start, so that a token can be told from its predecessors; positive, so that names look alike at any distance. */
const TAPS = { mean: 0.6, std: 0.4 };
/** Queries and keys. With equal queries and keys this makes a token attend to its like by a factor of about e^3. */
const MATCHING = { mean: 0, std: 0.06 };

/** All weights of a model, in storage order. Public names follow Hugging Face's Llama layout. */
export function weightSpecs(config: ModelConfig): WeightSpec[] {
  const { hiddenSize: width, heads, kvHeads, headDim, intermediateSize: inner, vocabSize, layers } = config;
  // Residual branches start smaller so that the sum over layers keeps its variance (Radford et al. 2019, section 2.3).
  const residual = { mean: 0, std: SMALL.std / Math.sqrt(2 * layers) };
  const single = (name: string, tensor: string, shape: readonly number[], init: WeightSpec['init']): WeightSpec => ({
    name,
    tensor,
    shape,
    init,
  });
  const specs = [single('embed', 'model.embed_tokens.weight', [vocabSize, width], SMALL)];
  if (config.taps > 1) specs.push(single('taps', 'model.embed_conv.weight', [config.taps, width], TAPS));
  // Norms that add one to their weights start at zero.
  const normInit = config.normsAddOne ? ZERO : ONE;
  for (let i = 0; i < layers; i++) {
    const prefix = `model.layers.${i}`;
    const norm = (name: string, tensor: string, size = width): WeightSpec =>
      single(`${i}.${name}`, `${prefix}.${tensor}.weight`, [size], normInit);
    const bias = (name: string, tensor: string, size: number): WeightSpec =>
      single(`${i}.${name}Bias`, `${prefix}.${tensor}.bias`, [size], ZERO);
    specs.push(
      single(`${i}.attentionNorm`, `${prefix}.input_layernorm.weight`, [width], normInit),
      single(`${i}.q`, `${prefix}.self_attn.q_proj.weight`, [heads * headDim, width], MATCHING),
      single(`${i}.k`, `${prefix}.self_attn.k_proj.weight`, [kvHeads * headDim, width], MATCHING),
      single(`${i}.v`, `${prefix}.self_attn.v_proj.weight`, [kvHeads * headDim, width], SMALL),
      single(`${i}.output`, `${prefix}.self_attn.o_proj.weight`, [width, heads * headDim], residual),
      norm('mlpNorm', config.sandwichNorms ? 'pre_feedforward_layernorm' : 'post_attention_layernorm'),
      single(`${i}.gate`, `${prefix}.mlp.gate_proj.weight`, [inner, width], SMALL),
      single(`${i}.up`, `${prefix}.mlp.up_proj.weight`, [inner, width], SMALL),
      single(`${i}.down`, `${prefix}.mlp.down_proj.weight`, [width, inner], residual),
    );
    if (config.qkvBias) {
      specs.push(
        bias('q', 'self_attn.q_proj', heads * headDim),
        bias('k', 'self_attn.k_proj', kvHeads * headDim),
        bias('v', 'self_attn.v_proj', kvHeads * headDim),
      );
    }
    if (config.outputBias) specs.push(bias('output', 'self_attn.o_proj', width));
    if (config.mlpBias) {
      specs.push(
        bias('gate', 'mlp.gate_proj', inner),
        bias('up', 'mlp.up_proj', inner),
        bias('down', 'mlp.down_proj', width),
      );
    }
    if (config.qkNorm) {
      specs.push(norm('qNorm', 'self_attn.q_norm', headDim), norm('kNorm', 'self_attn.k_norm', headDim));
    }
    if (config.sandwichNorms) {
      specs.push(
        norm('afterAttentionNorm', 'post_attention_layernorm'),
        norm('afterMlpNorm', 'post_feedforward_layernorm'),
      );
    }
  }
  specs.push(single('norm', 'model.norm.weight', [width], normInit));
  if (!config.tieEmbeddings) specs.push(single('head', 'lm_head.weight', [vocabSize, width], SMALL));
  return specs;
}

/** Weights by name over one Float32Array. */
export class Weights {
  readonly specs: readonly WeightSpec[];
  readonly flat: Float32Array;
  readonly #views = new Map<string, Float32Array>();

  constructor(specs: readonly WeightSpec[], flat?: Float32Array) {
    const total = specs.reduce((sum, spec) => sum + elements(spec.shape), 0);
    if (flat && flat.length !== total) throw new Error(`internal: ${flat.length} floats given for ${total} weights`);
    this.specs = specs;
    this.flat = flat ?? new Float32Array(total);
    let offset = 0;
    for (const spec of specs) {
      const size = elements(spec.shape);
      this.#views.set(spec.name, this.flat.subarray(offset, offset + size));
      offset += size;
    }
  }

  /** The live storage of one weight. */
  view(name: string): Float32Array {
    const view = this.#views.get(name);
    if (!view) throw new Error(`internal: no weight named ${name}`);
    return view;
  }

  /** Tensors by public name in file order; `data` is live storage. */
  tensors(): { name: string; shape: readonly number[]; data: Float32Array }[] {
    return this.specs.map(({ name, tensor, shape }) => ({ name: tensor, shape, data: this.view(name) }));
  }

  clone(): Weights {
    return new Weights(this.specs, this.flat.slice());
  }
}

/** Weights drawn by their specs. */
export function drawWeights(specs: readonly WeightSpec[], seed: number): Weights {
  const weights = new Weights(specs);
  for (const { name, init } of specs) fillNormal(weights.view(name), init, createRng('weights', seed, name));
  return weights;
}

/**
 * A fresh model. Each key head starts equal to the first query head that reads it, so that attention begins as a
 * search for similar tokens rather than as noise (Trockman and Kolter 2023, "Mimetic initialization", section 4).
 */
export function initWeights(config: ModelConfig, seed: number): Weights {
  const weights = drawWeights(weightSpecs(config), seed);
  const block = config.headDim * config.hiddenSize;
  for (let layer = 0; layer < config.layers; layer++) {
    const queries = weights.view(`${layer}.q`);
    const keys = weights.view(`${layer}.k`);
    for (let head = 0; head < config.kvHeads; head++) {
      const query = head * (config.heads / config.kvHeads);
      keys.set(queries.subarray(query * block, (query + 1) * block), head * block);
    }
  }
  return weights;
}

function fillNormal(view: Float32Array, { mean, std }: WeightSpec['init'], rng: Rng): void {
  for (let i = 0; i < view.length; i += 2) {
    // Box and Muller 1958.
    const radius = std * Math.sqrt(-2 * Math.log(1 - rng.next()));
    const angle = 2 * Math.PI * rng.next();
    view[i] = mean + radius * Math.cos(angle);
    if (i + 1 < view.length) view[i + 1] = mean + radius * Math.sin(angle);
  }
}

/** Weights as inputs of a graph, without a copy. */
export function weightFeeds(weights: Weights, prefix = ''): Feeds {
  return Object.fromEntries(
    weights.specs.map((spec) => [prefix + spec.name, { data: weights.view(spec.name), shape: spec.shape }]),
  );
}

export function elements(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}
