// What the samplers of one large model share: the decoding step, which holds a rearranged copy of the weights, and the
// layer graphs that read prompts, one set for each kind of adapter.

import { LayeredModel } from './layered-model.ts';
import { loraParts, loraSpecs, type LoraConfig } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { packedStepGraph } from './packed-step.ts';
import { Session, type SessionOptions } from './session.ts';
import { checkDecodeWeights, stepWeights, type DecodeWeights } from './step-weights.ts';
import type { Weights } from './weights.ts';

export type PackedRuntimeOptions = SessionOptions & {
  /** Default `f32`. */
  readonly decodeWeights?: DecodeWeights;
};

export class PackedRuntime {
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly #options: PackedRuntimeOptions;
  readonly #readers = new Map<string, LayeredModel>();
  #step: { readonly adapted: boolean; readonly session: Promise<Session> } | undefined;

  constructor(config: ModelConfig, weights: Weights, options: PackedRuntimeOptions = {}) {
    checkDecodeWeights(weights, options.decodeWeights ?? 'f32');
    this.config = config;
    this.weights = weights;
    this.#options = options;
  }

  /** Whether the runtime's attention takes heads of this model. */
  static suits({ headDim, taps }: ModelConfig): boolean {
    return headDim % 16 === 0 && taps === 1;
  }

  /**
   * The step, and whether it takes adapters: it does once anyone has asked for them, since a second copy of the weights
   * would cost more than adapters of zeros.
   */
  async step(adapted: boolean): Promise<{ readonly session: Session; readonly adapted: boolean }> {
    const known = this.#step;
    if (known && (known.adapted || !adapted)) return { session: await known.session, adapted: known.adapted };
    const session = Promise.resolve(known?.session)
      .then((before) => before?.release())
      .then(() => {
        const weights = stepWeights(this.weights, this.#options.decodeWeights ?? 'f32');
        const graph = packedStepGraph({ config: this.config, weights, adapted });
        return Session.compile(graph, this.#options, weights.bytes());
      });
    this.#step = { adapted, session };
    return { session: await session, adapted };
  }

  reader(lora: LoraConfig | undefined): LayeredModel {
    const key = JSON.stringify(lora ?? null);
    const known = this.#readers.get(key);
    if (known) return known;
    const { config, weights } = this;
    const parts = lora ? loraParts(weights.specs, lora) : [];
    const reader = new LayeredModel({
      ...this.#options,
      config,
      base: weights.specs,
      adapters: lora ? loraSpecs(parts, lora) : [],
      ...(lora ? { lora: { parts, config: lora } } : {}),
    });
    this.#readers.set(key, reader);
    return reader;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#step?.session)?.release();
    this.#step = undefined;
    for (const reader of this.#readers.values()) await reader.release();
    this.#readers.clear();
  }
}
