// One model that is trained: its trainer, the order of its requests, and what each of them does. How requests arrive and
// who waits for them is not here.

import { randomUUID } from 'node:crypto';
import type { AdamParams, Datum, LossConfig, LossName, Sampler, Trainer, TrainerOptions } from '../../core/index.ts';
import { floatTensor, type ForwardBackwardOutput } from '../../tinker/index.ts';
import type { LoraRecord } from './checkpoint-records.ts';
import { wireMetrics } from './datums.ts';
import { ModelQueue } from './model-queue.ts';
import { serverFault } from './refusals.ts';
import type { ServedModel } from './served-model.ts';

export type TrainingModelOptions = {
  readonly id: string;
  readonly sessionId: string;
  readonly served: ServedModel;
  /** As the client called it. */
  readonly baseModel: string;
  readonly lora: LoraRecord | undefined;
  readonly seed: number | undefined;
  readonly from: { readonly path: string; readonly optimizer: boolean } | undefined;
  readonly gapMs: number;
};

/** Tinker's, whatever the rank. */
export const LORA_ALPHA = 32;

export class TrainingModel {
  readonly id: string;
  readonly sessionId: string;
  readonly served: ServedModel;
  readonly baseModel: string;
  readonly lora: LoraRecord | undefined;
  readonly queue: ModelQueue;
  readonly #seed: number | undefined;
  readonly #abort = new AbortController();
  #trainer: Promise<Trainer>;
  /** Changes with every change of the weights; no other model's is equal. */
  #content = `${randomUUID()}/0`;
  #changes = 0;
  #closed: Promise<void> | undefined;

  constructor({ id, sessionId, served, baseModel, lora, seed, from, gapMs }: TrainingModelOptions) {
    this.id = id;
    this.sessionId = sessionId;
    this.served = served;
    this.baseModel = baseModel;
    this.lora = lora;
    this.queue = new ModelQueue({ gapMs });
    this.#seed = seed;
    this.#trainer = this.#create(from);
    this.#trainer.catch(() => undefined); // whoever uses it hears of it
  }

  /** Resolves when it can be trained. */
  async ready(): Promise<void> {
    await this.#trainer;
  }

  /** Equal for two saves exactly when the weights are. */
  get content(): string {
    return this.#content;
  }

  /** Fires when the model is given up. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  async forward(
    data: readonly Datum[],
    shapes: readonly (readonly number[])[],
    { loss, config, backward }: { loss: LossName; config: LossConfig; backward: boolean },
  ): Promise<ForwardBackwardOutput> {
    const trainer = await this.#trainer;
    const call = { signal: this.signal };
    const { logprobs, metrics } = backward
      ? await trainer.forwardBackward(data, loss, config, call)
      : await trainer.forward(data, loss, config, call);
    return {
      outputType: 'TorchLossReturn',
      outputs: logprobs.map((values, i) => ({ logprobs: floatTensor(values, shapes[i]) })),
      metrics: wireMetrics(metrics),
    };
  }

  async optimStep(params: AdamParams): Promise<Readonly<Record<string, number>>> {
    const { metrics } = await (await this.#trainer).optimStep(params, { signal: this.signal });
    this.#changed();
    return metrics;
  }

  async saveState(path: string): Promise<void> {
    await (await this.#trainer).saveState(path, { signal: this.signal });
  }

  async saveForSampler(path: string): Promise<void> {
    await (await this.#trainer).saveWeightsForSampler(path, { signal: this.signal });
  }

  async snapshot(): Promise<Sampler> {
    return (await this.#trainer).saveWeightsAndGetSampler({ signal: this.signal });
  }

  /** Goes on from a saved state; without its optimiser Adam begins anew. Gradients are forgotten. */
  async load(path: string, optimizer: boolean): Promise<void> {
    const old = await this.#trainer;
    const loaded = await this.#create({ path, optimizer });
    this.#trainer = Promise.resolve(loaded);
    this.#changed();
    await old[Symbol.asyncDispose]();
  }

  /** Fails what waits, stops what runs and frees the trainer. */
  close(reason: unknown): Promise<void> {
    return (this.#closed ??= this.#close(reason));
  }

  async #close(reason: unknown): Promise<void> {
    this.#abort.abort(reason ?? serverFault('The model was unloaded.'));
    await this.queue.close(reason);
    const trainer = await this.#trainer.catch(() => undefined); // it never was
    await trainer?.[Symbol.asyncDispose]();
  }

  #create(from: TrainingModelOptions['from']): Promise<Trainer> {
    const options: TrainerOptions = {
      ...(this.lora === undefined
        ? {}
        : { lora: { alpha: LORA_ALPHA, ...this.lora, ...(this.#seed === undefined ? {} : { seed: this.#seed }) } }),
      ...(from === undefined ? {} : { from }),
    };
    return this.served.backend.createTrainer(options, { signal: this.signal });
  }

  #changed(): void {
    this.#content = `${this.#content.split('/')[0]}/${++this.#changes}`;
  }
}
