// A model on a Tinker server as a trainer of this project. A state is loaded into a new model, which every server
// allows; the one before it is given up.

import type {
  AdamParams,
  CallOptions,
  CustomLoss,
  Datum,
  ForwardOutput,
  LossConfig,
  LossName,
  Trainer,
} from '../core/index.ts';
import { isTinkerError, isUnknownEndpoint } from './client/client-error.ts';
import type { ServiceClient } from './client/service-client.ts';
import type { TrainingClient } from './client/training-client.ts';
import { summedLoss, wireDatum, wireLossConfig } from './datums.ts';
import { TinkerSampler } from './tinker-sampler.ts';
import { parseTinkerPath, type ForwardBackwardOutput } from './wire/index.ts';

/** Under which a saved state says how many steps are behind it. */
const STEP_KEY = 'tabwright_step';

/** Failures that say nothing of the work itself: its result has not come through. */
const UNHEARD = ['tinker-result-timeout', 'tinker-unavailable', 'tinker-unreachable', 'tinker-timeout'] as const;

export type TinkerTrainerOptions = {
  readonly service: ServiceClient;
  readonly client: TrainingClient;
  /** Optimiser steps behind the weights. */
  readonly step: number;
};

export class TinkerTrainer implements Trainer {
  readonly #service: ServiceClient;
  #client: TrainingClient;
  #step: number;
  #loading: Promise<unknown> = Promise.resolve();

  constructor({ service, client, step }: TinkerTrainerOptions) {
    this.#service = service;
    this.#client = client;
    this.#step = step;
  }

  get step(): number {
    return this.#step;
  }

  /** The run on the server that is being trained. */
  get runId(): string {
    return this.#client.modelId;
  }

  forward(
    data: readonly Datum[],
    loss: LossName,
    config?: LossConfig,
    options: CallOptions = {},
  ): Promise<ForwardOutput> {
    return this.#pass('forward', { data, loss, config }, options);
  }

  forwardBackward(
    data: readonly Datum[],
    loss: LossName,
    config?: LossConfig,
    options: CallOptions = {},
  ): Promise<ForwardOutput> {
    return this.#pass('forwardBackward', { data, loss, config }, options);
  }

  async forwardBackwardCustom(
    data: readonly Datum[],
    loss: CustomLoss,
    options: CallOptions = {},
  ): Promise<ForwardOutput> {
    const client = await this.#ready();
    const output = await client.forwardBackwardCustom(data.map(wireDatum), loss, options);
    return {
      logprobs: output.outputs.map((fields) => Float32Array.from(fields['logprobs'].values)),
      metrics: output.metrics,
    };
  }

  async optimStep(
    params: AdamParams,
    options: CallOptions = {},
  ): Promise<{ readonly metrics: Readonly<Record<string, number>> }> {
    const client = await this.#ready();
    const { learningRate, beta1 = 0.9, beta2 = 0.95, eps = 1e-12, weightDecay = 0, gradClipNorm = 0 } = params;
    // Counted when it is asked for, so that a state saved right after it says so too.
    this.#step++;
    const turn = { begun: false };
    const onBegin = (): void => {
      turn.begun = true;
    };
    try {
      const metrics = await client.optimStep(
        {
          learning_rate: learningRate,
          beta1,
          beta2,
          eps,
          weight_decay: weightDecay,
          grad_clip_norm: gradClipNorm,
        },
        { ...options, onBegin },
      );
      return { metrics };
    } catch (error) {
      // A step whose turn has begun is made, whether or not somebody waits for its result; one that was refused is not.
      const goesOn = turn.begun && (options.signal?.aborted === true || isTinkerError(error, ...UNHEARD));
      if (!goesOn) this.#step--;
      throw error;
    }
  }

  async saveState(path: string, options: CallOptions = {}): Promise<string> {
    const client = await this.#ready();
    const userMetadata = { [STEP_KEY]: String(this.#step) };
    return client.saveState(lastPart(path), { overwrite: true, userMetadata, ...options });
  }

  async loadState(path: string, options: CallOptions = {}): Promise<void> {
    const before = await this.#ready();
    const load = async (): Promise<void> => {
      const client = await this.#service.createTrainingClientFromState({ path, optimizer: true, ...options });
      this.#step = await savedStep(this.#service, path, options.signal);
      this.#client = client;
      await before.unload(options.signal);
    };
    const loading = load();
    this.#loading = loading.catch(() => undefined);
    await loading;
  }

  async removeState(path: string, { signal }: CallOptions = {}): Promise<void> {
    try {
      await this.#service.rest.deleteCheckpoint(path, signal);
    } catch (error) {
      if (!isUnknownEndpoint(error)) throw error;
    }
  }

  async saveWeightsForSampler(path: string, options: CallOptions = {}): Promise<string> {
    return (await this.#ready()).saveForSampler(lastPart(path), options);
  }

  async saveWeightsAndGetSampler(options: CallOptions = {}): Promise<TinkerSampler> {
    const client = await this.#ready();
    const version = this.#step;
    return new TinkerSampler(await client.saveWeightsAndGetSamplingClient(options), version);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loading;
    await this.#client.release();
  }

  async #pass(kind: 'forward' | 'forwardBackward', passed: Passed, options: CallOptions): Promise<ForwardOutput> {
    const { data, loss, config } = passed;
    const client = await this.#ready();
    const output = await client[kind](data.map(wireDatum), loss, wireLossConfig(config), options);
    return forwardOutput(output, passed);
  }

  /** The client of the model that is trained, once a state that is being loaded is there. */
  async #ready(): Promise<TrainingClient> {
    await this.#loading;
    return this.#client;
  }
}

/** Steps behind a saved state; 0 where the server keeps no notes. */
export async function savedStep(
  service: ServiceClient,
  path: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { runId } = parseTinkerPath(path);
  try {
    const checkpoints = await service.rest.listRunCheckpoints(runId, signal);
    const found = checkpoints.find((checkpoint) => checkpoint.tinker_path === path);
    return Number(found?.user_metadata?.[STEP_KEY] ?? 0);
  } catch (error) {
    if (isUnknownEndpoint(error)) return 0;
    throw error;
  }
}

type Passed = { readonly data: readonly Datum[]; readonly loss: LossName; readonly config: LossConfig | undefined };

function forwardOutput({ outputs, metrics }: ForwardBackwardOutput, { data, loss, config }: Passed): ForwardOutput {
  const logprobs = outputs.map((fields) => Float32Array.from(fields['logprobs'].values));
  if (metrics['loss:sum'] !== undefined) return { logprobs, metrics };
  // SkyRL gives no metrics; by Tinker's formulas the sum follows from the log-probabilities.
  const sum = summedLoss(loss, data, logprobs, config);
  return { logprobs, metrics: sum === undefined ? metrics : { ...metrics, 'loss:sum': sum } };
}

/** A folder's name as the name of a checkpoint, which may have no slash. */
function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
