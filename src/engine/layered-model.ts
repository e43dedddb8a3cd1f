// A model that is run layer by layer: graphs of one layer that all of a kind share, weights lent to them, and embeddings
// looked up here. Between layers everything lies in JavaScript's memory, so that its size is known.

import { blockCount, blockFeeds } from './blocked-attention.ts';
import type { Graph } from './graph.ts';
import type { HeadLayout, LayerLayout } from './layer-graphs.ts';
import { isSliding, type ModelConfig } from './model-config.ts';
import { ropeAngles, type RopeAngles } from './rope-tables.ts';
import { Session, type CompileOptions, type Feeds, type SessionOptions } from './session.ts';
import { headName, type GraphLora } from './transformer.ts';
import type { WeightSpec } from './weights.ts';

export type LayeredModelOptions = SessionOptions & {
  readonly config: ModelConfig;
  readonly base: readonly WeightSpec[];
  readonly adapters: readonly WeightSpec[];
  readonly lora?: GraphLora;
};

/** Places beyond the context that padding may take. */
const PADDING = 64;
const FIRST_WEIGHT = '0.';
const FIRST_TENSOR = 'model.layers.0.';

export class LayeredModel {
  readonly config: ModelConfig;
  readonly head: HeadLayout;
  /** Weights and adapters of the first layer, whose names stand for those of every layer. */
  readonly layerSpecs: readonly WeightSpec[];
  readonly #options: LayeredModelOptions;
  readonly #layerLora: GraphLora | undefined;
  readonly #sessions = new Map<string, Promise<Session>>();
  readonly #angles = new Map<boolean, RopeAngles>();

  constructor(options: LayeredModelOptions) {
    const { config, base, adapters, lora } = options;
    if (config.taps > 1) throw new Error('internal: a model with convolved embeddings is not run layer by layer');
    this.config = config;
    this.#options = options;
    const part = (specs: readonly WeightSpec[], prefix: string): WeightSpec[] =>
      specs.filter(({ name }) => name.startsWith(prefix));
    const pick = (prefix: string): GraphLora | undefined =>
      lora && { config: lora.config, parts: lora.parts.filter(({ weight }) => weight.startsWith(prefix)) };
    this.layerSpecs = [...part(base, FIRST_WEIGHT), ...part(adapters, FIRST_TENSOR)];
    this.#layerLora = pick(FIRST_WEIGHT);
    const headLora = pick('head');
    const names = ['norm', headName(config)];
    const specs = [...base.filter(({ name }) => names.includes(name)), ...part(adapters, 'lm_head.')];
    this.head = { config, specs, ...(headLora ? { lora: headLora } : {}) };
  }

  /** `folded`: adapters are made one with their matrices at each run. */
  layout(time: number, indexed: boolean, folded = false): LayerLayout {
    const lora = this.#layerLora && { ...this.#layerLora, folded };
    const blocks = blockCount(time);
    return { config: this.config, specs: this.layerSpecs, ...(lora ? { lora } : {}), blocks, indexed };
  }

  /** A compiled graph, made when first asked for; options count then. */
  session(
    key: string,
    graph: () => Graph,
    options: Pick<CompileOptions, 'awake' | 'keepsMemory'> = {},
  ): Promise<Session> {
    const known = this.#sessions.get(key);
    if (known) return known;
    const { threads } = this.#options;
    const session = Session.compile(graph(), { ...(threads ? { threads } : {}), keepsMemory: false, ...options });
    this.#sessions.set(key, session);
    return session;
  }

  /** Rotary tables and blocks of queries `past`.. of the layers, full and sliding ones. */
  positions(time: number, past = 0): (layer: number) => Feeds {
    const { config } = this;
    const made = new Map<boolean, Feeds>();
    return (layer) => {
      const local = isSliding(config, layer);
      const known = made.get(local);
      if (known) return known;
      const half = config.headDim / 2;
      // Padding may reach beyond the last position.
      const angles = this.#angles.get(local) ?? ropeAngles(config, layer, config.maxPositions + PADDING);
      this.#angles.set(local, angles);
      const cut = (table: Float32Array): Feeds[string] => ({
        data: table.subarray(past * half, (past + time) * half),
        shape: [time, half],
      });
      const window = local ? config.sliding!.window : undefined;
      const feeds = {
        'rope.cos': cut(angles.cos),
        'rope.sin': cut(angles.sin),
        ...blockFeeds(config, { time, past, window }),
      };
      made.set(local, feeds);
      return feeds;
    };
  }

  async release(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions) await (await session).release();
  }
}

/** The name in layer `layer` of what is called `name` in the first. */
export function nameInLayer(name: string, layer: number): string {
  return name.startsWith(FIRST_TENSOR)
    ? `model.layers.${layer}.${name.slice(FIRST_TENSOR.length)}`
    : `${layer}.${name.slice(FIRST_WEIGHT.length)}`;
}

/** Weights of one layer under the names of the first. */
export function layerFeeds(weights: Feeds, specs: readonly WeightSpec[], layer: number): Feeds {
  return Object.fromEntries(specs.map(({ name }) => [name, weights[nameInLayer(name, layer)]]));
}

/** Rows of the embedding table for `ids`, into `stream`. */
export function lookUp({ config, table, ids, stream }: LookUp): void {
  const { hiddenSize, embeddingScale } = config;
  for (let row = 0; row < ids.length; row++) {
    const id = Number(ids[row]);
    stream.set(table.subarray(id * hiddenSize, (id + 1) * hiddenSize), row * hiddenSize);
  }
  if (embeddingScale !== undefined) for (let i = 0; i < stream.length; i++) stream[i] *= embeddingScale;
}

export type LookUp = {
  readonly config: ModelConfig;
  readonly table: Float32Array;
  readonly ids: BigInt64Array;
  /** [ids, hiddenSize] */
  readonly stream: Float32Array;
};

/** Adds the gradient of looked-up rows to the table's. */
export function addLookUpGradient(
  config: ModelConfig,
  gradient: Float32Array,
  ids: BigInt64Array,
  slope: Float32Array,
): void {
  const { hiddenSize, embeddingScale = 1 } = config;
  for (let row = 0; row < ids.length; row++) {
    const from = Number(ids[row]) * hiddenSize;
    for (let i = 0; i < hiddenSize; i++) gradient[from + i] += embeddingScale * slope[row * hiddenSize + i];
  }
}
