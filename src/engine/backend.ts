// The backend in this process: one base model, held once, under any number of trainers and samplers. Adapters are small
// and lie beside the base; a trainer of every weight takes a copy of it.

import { createHash, randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  TabwrightError,
  type Backend,
  type CallOptions,
  type ScoringSampler,
  type TrainerOptions,
} from '../core/index.ts';
import { loadWeights, readSettings } from './checkpoint.ts';
import { loraConfigOf, type LoraConfig } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { PackedDecoder } from './packed-decoder.ts';
import { PackedRuntime } from './packed-runtime.ts';
import { EmbeddedSampler } from './sampler.ts';
import type { Feeds, SessionOptions } from './session.ts';
import { EmbeddedTrainer, executionOf, type Execution, type SamplerSnapshot } from './trainer.ts';
import type { DecodeWeights } from './step-weights.ts';
import { WeightCache } from './weight-cache.ts';
import { weightFeeds, type Weights } from './weights.ts';
import { SamplerRuntime, WholeDecoder } from './whole-decoder.ts';

export type EmbeddedBackendOptions = SessionOptions & {
  /** As `--model` names it. */
  readonly modelName: string;
  readonly config: ModelConfig;
  /** Read by everyone and changed by no one from now on. */
  readonly weights: Weights;
  /** Padded tokens a training micro-batch. Default the trainer's. */
  readonly tokenBudget?: number;
  /** Which targets get a log-probability; see `EmbeddedTrainerOptions`. Default `all`. */
  readonly scored?: 'all' | 'weighted';
  /** How models are run; see `EmbeddedTrainerOptions`. Default by the size of the model. */
  readonly execution?: Execution;
  /**
   * How samplers of a large model hold the matrices of its base while they decode. With `q8` and `q4` they read less memory,
   * and what is sampled comes from rounded weights; prompts are read, given tokens scored and models trained with the whole
   * ones. Default `f32`.
   */
  readonly decodeWeights?: DecodeWeights;
  /** Floats of keys and values of prompts that each sampler of a large model keeps. Default `KEPT_PROMPT_FLOATS`. */
  readonly maxPrefixFloats?: number;
  /** Floats of weights kept in memory for samplers opened from folders, beyond the base. Default 2^28, 1 GiB. */
  readonly maxSamplerFloats?: number;
};

const DEFAULT_SAMPLER_FLOATS = 2 ** 28;

export class EmbeddedBackend implements Backend {
  readonly modelName: string;
  readonly vocabSize: number;
  readonly contextLength: number;
  readonly #options: EmbeddedBackendOptions;
  readonly #fingerprint: string;
  readonly #baseFeeds: Feeds;
  readonly #cache: WeightCache;
  /** Compiled sampling graphs by adapter settings; `''` is the model alone. */
  readonly #runtimes = new Map<string, SamplerRuntime>();
  readonly #packed: PackedRuntime | undefined;
  readonly #open = new Set<AsyncDisposable>();
  #closed = false;

  constructor(options: EmbeddedBackendOptions) {
    const { modelName, config, weights } = options;
    this.modelName = modelName;
    this.vocabSize = config.vocabSize;
    this.contextLength = config.maxPositions;
    this.#options = options;
    this.#fingerprint = fingerprintOf(config, weights);
    this.#baseFeeds = weightFeeds(weights);
    const { execution = executionOf(weights), threads, decodeWeights = 'f32' } = options;
    if (execution === 'layers' && PackedRuntime.suits(config))
      this.#packed = new PackedRuntime(config, weights, {
        decodeWeights,
        ...(threads === undefined ? {} : { threads }),
      });
    else if (decodeWeights !== 'f32') {
      const message = `${modelName} is too small, or of a shape, that it decodes with its weights as they are; ${decodeWeights} is for larger models.`;
      throw new TabwrightError('backend', message, { code: 'bad-decode-weights', details: { decodeWeights } });
    }
    this.#cache = new WeightCache({ maxFloats: options.maxSamplerFloats ?? DEFAULT_SAMPLER_FLOATS });
  }

  get config(): ModelConfig {
    return this.#options.config;
  }

  /** The base weights, which nobody may change. */
  get weights(): Weights {
    return this.#options.weights;
  }

  async createTrainer({ lora, from }: TrainerOptions, { signal }: CallOptions = {}): Promise<EmbeddedTrainer> {
    this.#check(signal);
    const settings = from ? await readSettings(from.path) : undefined;
    // A state says itself which adapters it has; settings that differ from it are refused when it is read.
    const adapters = lora ? loraConfigOf(lora) : settings?.lora;
    const { config, weights, threads, tokenBudget, scored, execution } = this.#options;
    const trainer: EmbeddedTrainer = new EmbeddedTrainer({
      config,
      onClose: () => this.#open.delete(trainer),
      ...(threads === undefined ? {} : { threads }),
      ...(tokenBudget === undefined ? {} : { tokenBudget }),
      ...(scored === undefined ? {} : { scored }),
      ...(execution === undefined ? {} : { execution }),
      openSampler: (snapshot) => this.#snapshotSampler(snapshot),
      ...(adapters
        ? { weights, lora: adapters, seed: lora?.seed ?? 0, sharedBase: this.#fingerprint }
        : { weights: weights.clone() }),
    });
    try {
      if (from)
        await (from.optimizer ? trainer.loadState(from.path, { signal }) : trainer.loadWeights(from.path, { signal }));
    } catch (error) {
      await trainer[Symbol.asyncDispose]();
      throw error;
    }
    this.#open.add(trainer);
    return trainer;
  }

  async openSampler(path?: string, { signal }: CallOptions = {}): Promise<ScoringSampler> {
    this.#check(signal);
    if (path === undefined)
      return this.#sampler({ lora: undefined, own: () => Promise.resolve({}), whole: false, step: 0 });
    const { lora, step, base } = await readSettings(path);
    const opened = await identity(path);
    const key = randomUUID();
    const load = async (): Promise<Feeds> => {
      // A sampler is a snapshot: another checkpoint under the same name is not what was opened.
      if ((await identity(path)) !== opened)
        throw new TabwrightError(
          'backend',
          `The weights in ${path} were replaced since they were opened; open them again.`,
          {
            code: 'sampler-weights-replaced',
            details: { path },
          },
        );
      const { adapters, weights } = await loadWeights(path, this.config, this.#fingerprint);
      return weightFeeds((adapters ?? weights)!);
    };
    const own = (): Promise<Feeds> => this.#cache.get(key, load);
    await own();
    const adapted = base !== undefined;
    const forget = (): void => this.#cache.forget(key);
    return this.#sampler({ lora: adapted ? lora : undefined, own, whole: !adapted, step, forget });
  }

  /** Closes every trainer and sampler that is still open. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const part of [...this.#open]) await part[Symbol.asyncDispose]();
    this.#open.clear();
    await this.#packed?.[Symbol.asyncDispose]();
    for (const runtime of this.#runtimes.values()) await runtime[Symbol.asyncDispose]();
    this.#runtimes.clear();
  }

  #snapshotSampler({ adapters, weights, step, ...snapshot }: SamplerSnapshot): EmbeddedSampler {
    const lora = 'lora' in snapshot ? snapshot.lora : undefined;
    const feeds = Promise.resolve(weightFeeds(adapters ?? weights));
    return this.#sampler({ lora, own: () => feeds, whole: weights !== undefined, step });
  }

  #sampler({ lora, own, whole, step, forget }: SamplerParts): EmbeddedSampler {
    const { maxPrefixFloats } = this.#options;
    const prefixes = maxPrefixFloats === undefined ? {} : { maxPrefixFloats };
    const onClose = (): void => {
      this.#open.delete(sampler);
      forget?.();
    };
    const weights = async (): Promise<Feeds> => ({ ...this.#baseFeeds, ...(await own()) });
    // Rearranging every weight of a snapshot would cost more than it saves; the base is rearranged once.
    const decoder =
      this.#packed && !whole
        ? new PackedDecoder(this.#packed, { lora, own, ...prefixes })
        : new WholeDecoder(this.#runtime(lora), weights);
    const sampler: EmbeddedSampler = new EmbeddedSampler(decoder, step, { onClose });
    this.#open.add(sampler);
    return sampler;
  }

  #runtime(lora: LoraConfig | undefined): SamplerRuntime {
    const key = lora ? JSON.stringify([lora.rank, lora.alpha, [...lora.targetModules].sort()]) : '';
    const known = this.#runtimes.get(key);
    if (known) return known;
    const { config, threads } = this.#options;
    const runtime = new SamplerRuntime(config, { ...(threads ? { threads } : {}), ...(lora ? { lora } : {}) });
    this.#runtimes.set(key, runtime);
    return runtime;
  }

  #check(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed)
      throw new TabwrightError('backend', `The backend of ${this.modelName} is closed.`, { code: 'backend-closed' });
  }
}

type SamplerParts = {
  /** Settings of the adapters, if there are any. */
  readonly lora: LoraConfig | undefined;
  /** Adapters, or with `whole` every weight of the model. */
  readonly own: () => Promise<Feeds>;
  readonly whole: boolean;
  readonly step: number;
  readonly forget?: () => void;
};

/** Names a base model by its shape and some of its numbers, so that adapters are not put onto another one. */
function fingerprintOf(config: ModelConfig, { flat, specs }: Weights): string {
  const hash = createHash('sha256').update(JSON.stringify([config, specs.map(({ tensor, shape }) => [tensor, shape])]));
  // A sample: reading half a gigabyte through a hash would take longer than opening the model.
  const step = Math.max(1, Math.floor(flat.length / 2 ** 20));
  const some = Float32Array.from({ length: Math.ceil(flat.length / step) }, (_, i) => flat[i * step]);
  return hash.update(some).digest('hex').slice(0, 32);
}

/** Changes when the folder is replaced. */
async function identity(path: string): Promise<string> {
  try {
    const { ino, mtimeMs } = await stat(join(path, 'config.json'));
    return `${ino} ${mtimeMs}`;
  } catch {
    return 'gone';
  }
}
