// A Tinker server as a backend of this project. Which tokenizer goes with its model is the caller's to know.

import {
  TabwrightError,
  type Backend,
  type CallOptions,
  type LoraOptions,
  type ScoringSampler,
  type TrainerOptions,
} from '../core/index.ts';
import type { LoraSettings, ServiceClient } from './client/service-client.ts';
import { TinkerSampler } from './tinker-sampler.ts';
import { savedStep, TinkerTrainer } from './tinker-trainer.ts';
import { parseTinkerPath } from './wire/index.ts';

export type TinkerBackendOptions = {
  /** Closed with the backend. */
  readonly service: ServiceClient;
  /** As the server calls it. */
  readonly baseModel: string;
  /** Of the tokenizer that belongs to the model. */
  readonly vocabSize: number;
  /** Longest sequence on the server in tokens; what the server says holds where it says something. Default 32,768. */
  readonly contextLength?: number;
};

/** Tinker's alpha, which is not on the wire. */
const WIRE_ALPHA = 32;

export class TinkerBackend implements Backend {
  readonly modelName: string;
  readonly vocabSize: number;
  readonly contextLength: number;
  readonly service: ServiceClient;
  readonly #baseModel: string;

  private constructor(options: TinkerBackendOptions) {
    this.service = options.service;
    this.#baseModel = options.baseModel;
    this.modelName = `tinker:${options.baseModel}`;
    this.vocabSize = options.vocabSize;
    // A prompt is scored by asking for one token more, which needs its place too.
    this.contextLength = (options.contextLength ?? 32_768) - 1;
  }

  static async open(options: TinkerBackendOptions, { signal }: CallOptions = {}): Promise<TinkerBackend> {
    const { supported_models } = await options.service.capabilities(signal);
    const model = supported_models.find(({ model_name }) => model_name === options.baseModel);
    if (model === undefined && supported_models.length > 0) {
      const names = supported_models.map(({ model_name }) => model_name ?? '?').slice(0, 20);
      throw new TabwrightError(
        'config',
        `The Tinker server has no model "${options.baseModel}"; it has: ${names.join(', ')}.`,
        { code: 'unknown-model', details: { name: options.baseModel, known: names } },
      );
    }
    const contextLength = model?.max_context_length ?? options.contextLength;
    return new TinkerBackend({ ...options, ...(contextLength === undefined ? {} : { contextLength }) });
  }

  async createTrainer({ lora, from }: TrainerOptions, { signal }: CallOptions = {}): Promise<TinkerTrainer> {
    const { service } = this;
    if (from !== undefined) {
      const { path, optimizer } = from;
      const client = await service.createTrainingClientFromState({ path, optimizer, signal });
      const step = optimizer ? await savedStep(service, path, signal) : 0;
      return new TinkerTrainer({ service, client, step });
    }
    const client = await service.createTrainingClient({
      baseModel: this.#baseModel,
      ...(lora === undefined ? {} : { lora: loraSettings(lora) }),
      signal,
    });
    return new TinkerTrainer({ service, client, step: 0 });
  }

  async openSampler(path?: string, { signal }: CallOptions = {}): Promise<ScoringSampler> {
    if (path === undefined) {
      return new TinkerSampler(await this.service.createSamplingClient({ baseModel: this.#baseModel }, signal), 0);
    }
    if (parseTinkerPath(path).kind !== 'weights') {
      return new TinkerSampler(await this.service.createSamplingClient({ path }, signal), 0);
    }
    // A training state is no sampler: a model is made of it for as long as it takes to make one.
    const trainer = await this.createTrainer({ from: { path, optimizer: false } }, { signal });
    try {
      return await trainer.saveWeightsAndGetSampler({ ...(signal === undefined ? {} : { signal }) });
    } finally {
      await trainer[Symbol.asyncDispose]();
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.service.close();
  }
}

function loraSettings({ rank, alpha, seed, trainAttention, trainMlp, trainUnembed }: LoraOptions): LoraSettings {
  if (alpha !== undefined && alpha !== WIRE_ALPHA) {
    throw new TabwrightError('config', `Tinker's adapters have alpha ${WIRE_ALPHA}; ${alpha} cannot be asked for.`, {
      code: 'unsupported-lora-alpha',
      details: { alpha },
    });
  }
  return {
    rank,
    ...(seed === undefined ? {} : { seed }),
    ...(trainAttention === undefined ? {} : { trainAttention }),
    ...(trainMlp === undefined ? {} : { trainMlp }),
    ...(trainUnembed === undefined ? {} : { trainUnembed }),
  };
}
