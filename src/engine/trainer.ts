// The embedded Trainer: Tinker's primitives over graphs in this process, on the CPU. One session a loss and
// direction, compiled when first used; weights live in JavaScript and are lent to the runtime without a copy.

import { rm } from 'node:fs/promises';
import { TabwrightError } from '../core/index.ts';
import type {
  AdamParams,
  CallOptions,
  CustomLoss,
  Datum,
  ForwardOutput,
  LossConfig,
  LossName,
  ScoringSampler,
  Trainer,
} from '../core/index.ts';
import { adamStep, checkAdamParams, createAdamState, l2Norm, type AdamState } from './adam.ts';
import {
  loadTrainedWeights,
  loadTrainerState,
  saveAdapters,
  saveModel,
  saveTrainerState,
  type TrainerState,
} from './checkpoint.ts';
import { loraParts, loraSpecs, mergeLora, parseLoraConfig, type LoraConfig } from './lora.ts';
import { LayeredTraining } from './layered-training.ts';
import { LOSSES_BY_ROW } from './losses.ts';
import type { ModelConfig } from './model-config.ts';
import { maskFeeds, packMicroBatches, rowIndicator, type MicroBatch, type ScoredPositions } from './packing.ts';
import { EmbeddedSampler } from './sampler.ts';
import { Session, type Feeds, type SessionOptions } from './session.ts';
import { splitTargets } from './target-columns.ts';
import { checkCustom, checkCustomDatum, lossScalars } from './trainer-inputs.ts';
import { trainingGraph } from './training-graph.ts';
import type { GraphLora } from './transformer.ts';
import { drawWeights, initWeights, weightFeeds, Weights } from './weights.ts';
import { SamplerRuntime } from './whole-decoder.ts';

export const DEFAULT_TOKEN_BUDGET = 1024;
const LAYERED_TOKEN_BUDGET = 2048;
/** Weights from which on a model is run layer by layer unless asked otherwise; the shipped one has a million. */
const LARGE_MODEL = 2 ** 24;

export type Execution = 'whole' | 'layers';

export type EmbeddedTrainerOptions = SessionOptions & {
  readonly config: ModelConfig;
  /** Taken over by the trainer; clone before if they are needed elsewhere. */
  readonly weights: Weights;
  /** Train low-rank adapters and leave the weights alone. Default: train every weight. */
  readonly lora?: LoraConfig;
  /** Seed of fresh adapters. Default 0. */
  readonly seed?: number;
  /**
   * With adapters: the weights belong to others too. They are never changed, saved states name them by this fingerprint
   * instead of holding them, and samplers read them where they lie, adapters beside them. Default: they are this trainer's.
   */
  readonly sharedBase?: string;
  /** Opens samplers over a shared base for a copy of the adapters, or of all weights. Default: the trainer does. */
  readonly openSampler?: (snapshot: SamplerSnapshot) => ScoringSampler;
  /** Called once when the trainer is closed. */
  readonly onClose?: () => void;
  /**
   * How a micro-batch is computed: `whole` by one graph of the model, `layers` by graphs of a layer each, which takes less
   * memory and more calls. Default by the size of the model.
   */
  readonly execution?: Execution;
  /**
   * Padded tokens a micro-batch. Default 1024 for whole models: large enough for the products, small enough for the
   * processor's caches; 2048 by layers.
   */
  readonly tokenBudget?: number;
  /**
   * `all` gives a log-probability for every target, as Tinker does; `weighted` skips targets whose weight or
   * advantage is zero, whose log-probability is then NaN. Default `all`.
   */
  readonly scored?: ScoredPositions;
};

/** How a model is run unless asked otherwise. */
export function executionOf({ flat }: Weights): Execution {
  return flat.length < LARGE_MODEL ? 'whole' : 'layers';
}

/** Weights as they were, for a sampler: adapters of a shared base, or all of them. */
export type SamplerSnapshot = { readonly step: number } & (
  | { readonly adapters: Weights; readonly lora: LoraConfig; readonly weights?: undefined }
  | { readonly weights: Weights; readonly adapters?: undefined }
);

export class EmbeddedTrainer implements Trainer {
  readonly config: ModelConfig;
  readonly #options: EmbeddedTrainerOptions;
  readonly #base: Weights;
  readonly #adapters: Weights | undefined;
  readonly #lora: GraphLora | undefined;
  /** The accumulated gradient, and two more of its size: each micro-batch reads one and writes another. */
  #gradient: Weights;
  #spare: readonly Weights[];
  readonly #layered: LayeredTraining | undefined;
  readonly #adam: AdamState;
  readonly #sessions = new Map<string, Promise<Session>>();
  readonly #samplers: SamplerRuntime;
  #queue: Promise<unknown> = Promise.resolve();
  #disposed = false;

  constructor(options: EmbeddedTrainerOptions) {
    this.config = options.config;
    this.#options = options;
    this.#base = options.weights;
    if (options.lora) {
      const lora = parseLoraConfig(options.lora);
      const parts = loraParts(options.weights.specs, lora);
      this.#lora = { parts, config: lora };
      this.#adapters = drawWeights(loraSpecs(parts, lora), options.seed ?? 0);
    }
    const trained = this.#trained;
    this.#gradient = new Weights(trained.specs);
    const { execution = executionOf(this.#base) } = options;
    // By layers the sum is added to in place, on a copy.
    const spare = execution === 'layers' ? 1 : 2;
    this.#spare = Array.from({ length: spare }, () => new Weights(trained.specs));
    if (execution === 'layers') {
      this.#layered = new LayeredTraining({
        ...(options.threads ? { threads: options.threads } : {}),
        config: options.config,
        base: this.#base,
        adapters: this.#adapters,
        ...(this.#lora ? { lora: this.#lora } : {}),
      });
    }
    this.#adam = createAdamState(trained.flat.length);
    if (options.sharedBase !== undefined && !this.#adapters)
      throw new Error('internal: a trainer without adapters needs weights of its own');
    const { threads } = options;
    this.#samplers = new SamplerRuntime(options.config, threads ? { threads } : {});
  }

  /** A trainer on random weights. */
  static fresh(
    config: ModelConfig,
    seed: number,
    options: Omit<EmbeddedTrainerOptions, 'config' | 'weights'> = {},
  ): EmbeddedTrainer {
    return new EmbeddedTrainer({ ...options, config, weights: initWeights(config, seed) });
  }

  get step(): number {
    return this.#adam.step;
  }

  /** Number of weights that `optimStep` changes. */
  get trainableCount(): number {
    return this.#trained.flat.length;
  }

  get #trained(): Weights {
    return this.#adapters ?? this.#base;
  }

  forward(
    data: readonly Datum[],
    loss: LossName,
    config: LossConfig = {},
    options: CallOptions = {},
  ): Promise<ForwardOutput> {
    return this.#inOrder(() => this.#pass(data, { loss, config, signal: options.signal, backward: false }));
  }

  forwardBackward(
    data: readonly Datum[],
    loss: LossName,
    config: LossConfig = {},
    options: CallOptions = {},
  ): Promise<ForwardOutput> {
    return this.#inOrder(() => this.#pass(data, { loss, config, signal: options.signal, backward: true }));
  }

  forwardBackwardCustom(data: readonly Datum[], loss: CustomLoss, options: CallOptions = {}): Promise<ForwardOutput> {
    return this.#inOrder(async () => {
      data.forEach(checkCustomDatum);
      const rows = data.map(({ tokens, lossInputs }): Datum => {
        return {
          tokens,
          lossInputs: { targetTokens: lossInputs.targetTokens, weights: lossInputs.targetTokens.map(() => 0) },
        };
      });
      const common = { loss: 'cross_entropy', config: {}, signal: options.signal } as const;
      const { logprobs } = await this.#pass(rows, { ...common, backward: false, scored: 'all' });
      const custom = loss(logprobs);
      checkCustom(custom, logprobs);
      const weighted = rows.map((row, i): Datum => ({
        ...row,
        // Cross-entropy is -sum w lp, so w = -dLoss/dlp gives exactly the wanted gradient.
        lossInputs: {
          targetTokens: row.lossInputs.targetTokens,
          weights: Array.from(custom.gradients[i], (value) => -value),
        },
      }));
      await this.#pass(weighted, { ...common, backward: true });
      return { logprobs, metrics: { ...custom.metrics, 'loss:sum': custom.loss } };
    });
  }

  optimStep(
    params: AdamParams,
    options: CallOptions = {},
  ): Promise<{ readonly metrics: Readonly<Record<string, number>> }> {
    return this.#inOrder(() => {
      options.signal?.throwIfAborted();
      checkAdamParams(params);
      const gradient = this.#gradient.flat;
      const gradNorm = l2Norm(gradient);
      if (!Number.isFinite(gradNorm)) {
        gradient.fill(0);
        throw new TabwrightError(
          'backend',
          `The gradient of step ${this.step} is not finite; lower the learning rate or look for bad rows.`,
          {
            code: 'gradient-not-finite',
            details: { step: this.step },
          },
        );
      }
      adamStep(this.#trained.flat, gradient, this.#adam, params, gradNorm);
      gradient.fill(0);
      return Promise.resolve({ metrics: { 'optim/grad_norm': gradNorm, 'optim/lr': params.learningRate } });
    });
  }

  /** Weights (and adapters), Adam's moments and the step count into the folder `path`. */
  saveState(path: string, options: CallOptions = {}): Promise<string> {
    return this.#inOrder(async () => {
      options.signal?.throwIfAborted();
      await saveTrainerState(path, this.#state());
      return path;
    });
  }

  removeState(path: string, options: CallOptions = {}): Promise<void> {
    return this.#inOrder(async () => {
      options.signal?.throwIfAborted();
      await rm(path, { recursive: true, force: true });
    });
  }

  /** Replaces everything that `saveState` wrote; the gradient accumulator is cleared. */
  loadState(path: string, options: CallOptions = {}): Promise<void> {
    return this.#inOrder(async () => {
      options.signal?.throwIfAborted();
      await loadTrainerState(path, this.#state());
      this.#gradient.flat.fill(0);
    });
  }

  /** The weights of a state, or those saved for sampling from adapters; the optimiser starts afresh. */
  loadWeights(path: string, options: CallOptions = {}): Promise<void> {
    return this.#inOrder(async () => {
      options.signal?.throwIfAborted();
      await loadTrainedWeights(path, this.#state());
      this.#gradient.flat.fill(0);
      this.#adam.first.fill(0);
      this.#adam.second.fill(0);
      this.#adam.step = 0;
    });
  }

  /** The model alone, adapters merged in, as a folder that `loadModel` reads; adapters alone where the base is shared. */
  saveWeightsForSampler(path: string, options: CallOptions = {}): Promise<string> {
    return this.#inOrder(async () => {
      options.signal?.throwIfAborted();
      const { sharedBase } = this.#options;
      const { config } = this;
      if (sharedBase === undefined || !this.#adapters || !this.#lora) await saveModel(path, config, this.#merged());
      else {
        const lora = this.#lora.config;
        await saveAdapters(path, { config, lora, adapters: this.#adapters, base: sharedBase, madeAtStep: this.step });
      }
      return path;
    });
  }

  saveWeightsAndGetSampler(options: CallOptions = {}): Promise<ScoringSampler> {
    return this.#inOrder(() => {
      options.signal?.throwIfAborted();
      const { openSampler, sharedBase } = this.#options;
      if (!openSampler) return Promise.resolve(EmbeddedSampler.of(this.#samplers, this.#merged(), this.step));
      // A shared base is not copied for every snapshot; its adapters stay beside it.
      const beside = sharedBase !== undefined && this.#adapters && this.#lora;
      const snapshot: SamplerSnapshot = beside
        ? { adapters: this.#adapters.clone(), lora: this.#lora.config, step: this.step }
        : { weights: this.#merged(), step: this.step };
      return Promise.resolve(openSampler(snapshot));
    });
  }

  /** A copy of the accumulated gradient by public tensor name; for tests and diagnostics. */
  accumulatedGradient(): Map<string, Float32Array> {
    return new Map(this.#gradient.tensors().map((tensor) => [tensor.name, tensor.data.slice()]));
  }

  /** The live adapter weights, if there are any. */
  adapterWeights(): Weights | undefined {
    return this.#adapters;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    await this.#queue;
    for (const session of this.#sessions.values()) await (await session).release();
    await this.#layered?.release();
    await this.#samplers[Symbol.asyncDispose]();
    this.#options.onClose?.();
  }

  #state(): TrainerState {
    const { lora, sharedBase } = this.#options;
    return {
      config: this.config,
      base: this.#base,
      adapters: this.#adapters,
      lora,
      adam: this.#adam,
      ...(sharedBase === undefined ? {} : { sharedBase }),
    };
  }

  #merged(): Weights {
    const weights = this.#base.clone();
    if (this.#adapters && this.#lora) mergeLora(weights, this.#adapters, this.#lora.parts, this.#lora.config);
    return weights;
  }

  /** Calls are carried out one after the other, in the order they were made, whatever became of those before. */
  #inOrder<T>(call: () => Promise<T>): Promise<T> {
    if (this.#disposed) {
      return Promise.reject(
        new TabwrightError('backend', 'This trainer is closed; create a new one.', { code: 'trainer-closed' }),
      );
    }
    const result = this.#queue.then(call);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  async #pass(data: readonly Datum[], options: PassOptions): Promise<ForwardOutput> {
    const { loss, config, signal, backward } = options;
    const { rows, join } = splitTargets(data);
    const batches = packMicroBatches(rows, {
      loss,
      scored: options.scored ?? this.#options.scored ?? 'all',
      tokenBudget: this.#options.tokenBudget ?? (this.#layered ? LAYERED_TOKEN_BUDGET : DEFAULT_TOKEN_BUDGET),
      vocabSize: this.config.vocabSize,
      maxPositions: this.config.maxPositions,
    });
    const scalars = lossScalars(loss, config);
    if (this.#layered) return this.#layeredPass(this.#layered, { batches, rows, join, scalars, options });
    const session = await this.#session(loss, backward);
    const logprobs = rows.map(({ tokens }) => new Float32Array(tokens.length).fill(NaN));
    // The accumulator is replaced only when every micro-batch has succeeded: an abort leaves no half of a batch behind.
    let sum = this.#gradient;
    const [first, second] = this.#spare;
    let next = first;
    let total = 0;
    for (const batch of batches) {
      signal?.throwIfAborted();
      if (batch.origin.length === 0) continue;
      const feeds = this.#feeds(batch, scalars, loss);
      const outputs = backward
        ? await session.run({ ...feeds, ...weightFeeds(sum, 'earlier.') }, weightFeeds(next, 'gradient.'))
        : await session.run(feeds);
      total += outputs['loss'][0];
      batch.origin.forEach(({ row, position }, i) => {
        logprobs[row][position] = outputs['logprobs'][i]!;
      });
      if (backward) [sum, next] = [next, sum === this.#gradient ? second : sum];
    }
    if (sum !== this.#gradient) {
      this.#spare = [this.#gradient, next];
      this.#gradient = sum;
    }
    return { logprobs: join(logprobs), metrics: { 'loss:sum': total } };
  }

  async #layeredPass(
    layered: LayeredTraining,
    { batches, rows, join, scalars, options }: PreparedPass,
  ): Promise<ForwardOutput> {
    const { loss, signal, backward } = options;
    const [spare] = this.#spare;
    if (backward) spare.flat.set(this.#gradient.flat);
    const logprobs = rows.map(({ tokens }) => new Float32Array(tokens.length).fill(NaN));
    let total = 0;
    // The longest first: what is kept of it is used again by the others.
    for (const batch of [...batches].sort((a, b) => b.ids.length - a.ids.length)) {
      signal?.throwIfAborted();
      if (batch.origin.length === 0) continue;
      const result = await layered.run(batch, { loss, scalars, gradient: backward ? spare : undefined });
      total += result.loss;
      batch.origin.forEach(({ row, position }, i) => (logprobs[row][position] = result.logprobs[i]));
    }
    // Only now: an abort leaves no half of a batch behind.
    if (backward) [this.#gradient, this.#spare] = [spare, [this.#gradient]];
    return { logprobs: join(logprobs), metrics: { 'loss:sum': total } };
  }

  #feeds(batch: MicroBatch, scalars: Feeds, loss: LossName): Feeds {
    const rows = [batch.batch * batch.time];
    const count = [batch.origin.length];
    const feeds: Record<string, Feeds[string]> = {
      ...weightFeeds(this.#base),
      ...(this.#adapters ? weightFeeds(this.#adapters) : {}),
      ...scalars,
      ids: { data: batch.ids, shape: rows },
      ...maskFeeds(this.config, batch.time),
      index: { data: batch.index, shape: count },
      targets: { data: batch.targets, shape: count },
    };
    for (const [name, data] of Object.entries(batch.vectors)) feeds[`loss.${name}`] = { data, shape: count };
    if (LOSSES_BY_ROW.has(loss))
      feeds['loss.rowOf'] = { data: rowIndicator(batch), shape: [batch.rows.length, ...count] };
    return feeds;
  }

  #session(loss: LossName, backward: boolean): Promise<Session> {
    const key = `${loss} ${backward}`;
    const known = this.#sessions.get(key);
    if (known) return known;
    const graph = trainingGraph({
      config: this.config,
      base: this.#base.specs,
      adapters: this.#adapters?.specs ?? [],
      ...(this.#lora ? { lora: this.#lora } : {}),
      loss,
      trainable: backward ? this.#trained.specs : [],
    });
    const session = Session.compile(graph, this.#options);
    this.#sessions.set(key, session);
    return session;
  }
}

type PreparedPass = {
  readonly batches: readonly MicroBatch[];
  readonly rows: readonly Datum[];
  readonly join: (logprobs: readonly Float32Array[]) => readonly Float32Array[];
  readonly scalars: Feeds;
  readonly options: PassOptions;
};

type PassOptions = {
  readonly loss: LossName;
  readonly config: LossConfig;
  readonly signal: AbortSignal | undefined;
  readonly backward: boolean;
  readonly scored?: ScoredPositions;
};
