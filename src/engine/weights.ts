// Named weights on one flat buffer, so that the optimiser, snapshots and gradient sums are single loops. Matrices
// that are multiplied together are stored together (q, k and v; gate and up) and still have their own public names.

import { createRng } from '../util/index.ts';
import type { ModelConfig } from './model-config.ts';

export type WeightSpec = {
  /** The engine's name of the (possibly fused) matrix. */
  readonly name: string;
  readonly shape: readonly number[];
  /** Public tensor names, in row order; a matrix that is not fused has one. */
  readonly parts: readonly { readonly name: string; readonly rows: number }[];
  /** Standard deviation at initialisation; `one` for norms. */
  readonly init: number | 'one';
};

const INIT_STD = 0.02;

/** All weights of a model, in storage order. Public names follow Hugging Face's Llama layout. */
export function weightSpecs(config: ModelConfig): WeightSpec[] {
  const { hiddenSize: width, heads, kvHeads, headDim, intermediateSize: inner, vocabSize, layers } = config;
  // Residual branches start smaller so that the sum over layers keeps its variance (Radford et al. 2019, section 2.3).
  const residualStd = INIT_STD / Math.sqrt(2 * layers);
  const single = (name: string, tensor: string, shape: readonly number[], init: WeightSpec['init']): WeightSpec => ({
    name,
    shape,
    parts: [{ name: tensor, rows: shape[0]! }],
    init,
  });
  const specs = [single('embed', 'model.embed_tokens.weight', [vocabSize, width], INIT_STD)];
  for (let i = 0; i < config.predecessors; i++) {
    specs.push(single(`predecessor.${i}`, `model.predecessor_embeddings.${i}.weight`, [vocabSize, width], INIT_STD));
  }
  for (let i = 0; i < layers; i++) {
    const prefix = `model.layers.${i}`;
    specs.push(
      single(`${i}.attentionNorm`, `${prefix}.input_layernorm.weight`, [width], 'one'),
      {
        name: `${i}.qkv`,
        shape: [(heads + 2 * kvHeads) * headDim, width],
        parts: [
          { name: `${prefix}.self_attn.q_proj.weight`, rows: heads * headDim },
          { name: `${prefix}.self_attn.k_proj.weight`, rows: kvHeads * headDim },
          { name: `${prefix}.self_attn.v_proj.weight`, rows: kvHeads * headDim },
        ],
        init: INIT_STD,
      },
      single(`${i}.output`, `${prefix}.self_attn.o_proj.weight`, [width, heads * headDim], residualStd),
      single(`${i}.mlpNorm`, `${prefix}.post_attention_layernorm.weight`, [width], 'one'),
      {
        name: `${i}.gateUp`,
        shape: [2 * inner, width],
        parts: [
          { name: `${prefix}.mlp.gate_proj.weight`, rows: inner },
          { name: `${prefix}.mlp.up_proj.weight`, rows: inner },
        ],
        init: INIT_STD,
      },
      single(`${i}.down`, `${prefix}.mlp.down_proj.weight`, [width, inner], residualStd),
    );
  }
  specs.push(single('norm', 'model.norm.weight', [width], 'one'));
  if (!config.tieEmbeddings) specs.push(single('head', 'lm_head.weight', [vocabSize, width], INIT_STD));
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

  /** The live storage of one (possibly fused) weight. */
  view(name: string): Float32Array {
    const view = this.#views.get(name);
    if (!view) throw new Error(`internal: no weight named ${name}`);
    return view;
  }

  /** Public tensors in file order; `data` is live storage. */
  tensors(): { name: string; shape: number[]; data: Float32Array }[] {
    return this.specs.flatMap((spec) => {
      const rest = spec.shape.slice(1);
      let row = 0;
      return spec.parts.map((part) => {
        const start = row * elements(rest);
        row += part.rows;
        return {
          name: part.name,
          shape: [part.rows, ...rest],
          data: this.view(spec.name).subarray(start, row * elements(rest)),
        };
      });
    });
  }

  clone(): Weights {
    return new Weights(this.specs, this.flat.slice());
  }
}

/** Fresh weights: normal with the spec's deviation, norms at one. */
export function initWeights(specs: readonly WeightSpec[], seed: number): Weights {
  const weights = new Weights(specs);
  for (const spec of specs) {
    const view = weights.view(spec.name);
    if (spec.init === 'one') {
      view.fill(1);
      continue;
    }
    const rng = createRng('weights', seed, spec.name);
    for (let i = 0; i < view.length; i += 2) {
      // Box and Muller 1958.
      const radius = Math.sqrt(-2 * Math.log(1 - rng.next()));
      const angle = 2 * Math.PI * rng.next();
      view[i] = spec.init * radius * Math.cos(angle);
      if (i + 1 < view.length) view[i + 1] = spec.init * radius * Math.sin(angle);
    }
  }
  return weights;
}

export function elements(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1);
}
