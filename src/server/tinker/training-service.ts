// Models that clients train: made fresh or from a checkpoint, asked by numbered requests, given up with their session.
// Every request becomes a future at once; what is wrong with it is its result, at its place in the order.

import type { JsonObject } from '../../core/index.ts';
import type { CreateModelRequest } from '../../tinker/index.ts';
import type { LoraRecord } from './checkpoint-records.ts';
import type { StoredCheckpoint } from './checkpoint-store.ts';
import { modelId, parsePath, sessionOf } from './names.ts';
import { failureBody, refusal, serverFault, userFault } from './refusals.ts';
import type { Result } from './results.ts';
import type { ServedModel } from './served-model.ts';
import { checkRoom, failed, json, type FuturePromise, type ServiceParts } from './service-parts.ts';
import { TrainingModel } from './training-model.ts';

/** Makes a model from a checkpoint. */
export type CreateByLoad = Pick<
  CreateModelRequest,
  'session_id' | 'model_seq_id' | 'optimizer_config' | 'user_metadata'
> & {
  readonly base_model: string | undefined;
  readonly path: string;
  readonly optimizer: boolean;
};

export type Work = {
  readonly kind: string;
  readonly modelId: string;
  readonly seqId: number | undefined;
  /** Size of the body that asked for it. */
  readonly bytes: number;
  readonly run: (model: TrainingModel) => Promise<Result>;
};

/** Numbers further ahead than this are a mistake. */
const MAX_AHEAD = 100_000;
const DEFAULT_MAX_RANK = 256;

/** A checkpoint to go on from. */
type From = { readonly stored: StoredCheckpoint; readonly optimizer: boolean };

type Plan = {
  readonly served: ServedModel;
  readonly baseModel: string;
  readonly lora: LoraRecord | undefined;
  readonly seed: number | undefined;
  readonly from: From | undefined;
};

export class TrainingService {
  readonly #parts: ServiceParts;
  readonly #models = new Map<string, TrainingModel>();
  #queuedBytes = 0;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    parts.metrics.gauge('tabwright_models', 'Models that are trained.', () => this.#models.size);
    parts.metrics.gauge('tabwright_queued_requests', 'Requests of models that wait for their turn.', () =>
      [...this.#models.values()].reduce((sum, { queue }) => sum + queue.length, 0),
    );
    parts.metrics.gauge('tabwright_queued_bytes', 'Bodies of requests that have not ended.', () => this.#queuedBytes);
  }

  get live(): number {
    return this.#models.size;
  }

  find(id: string): TrainingModel | undefined {
    return this.#models.get(id);
  }

  get(id: string): TrainingModel {
    const model = this.#models.get(id);
    if (model !== undefined) return model;
    this.#parts.sessions.use(sessionOf(id)); // says so where the session is the reason
    throw refusal('not-found', `There is no model ${JSON.stringify(id)}; it was never made, or was unloaded.`);
  }

  createModel(request: CreateModelRequest): FuturePromise {
    return this.#create(
      request,
      'create_model',
      (id) => ({ type: 'create_model', model_id: id }),
      () => {
        const served = this.#parts.models.get(request.base_model);
        const lora = readLora(request.lora_config, served);
        const seed = request.lora_config?.seed ?? undefined;
        return { served, baseModel: request.base_model, lora, seed, from: undefined };
      },
    );
  }

  createByLoad(request: CreateByLoad): FuturePromise {
    const result = (id: string): JsonObject => ({ type: 'load_weights', model_id: id, path: request.path });
    return this.#create(request, 'load_weights', result, () => {
      const stored = this.#state(request.path);
      const { run } = stored;
      if (request.base_model !== undefined && request.base_model !== run.baseModel) {
        throw userFault(`base_model is ${request.base_model}, but ${request.path} is of ${run.baseModel}.`);
      }
      const served = this.#parts.models.get(run.baseModel);
      const from = { stored, optimizer: request.optimizer };
      return { served, baseModel: run.baseModel, lora: run.lora, seed: undefined, from };
    });
  }

  /** Replaces what a model has learned; its place in the order is that of any other request. */
  async load(model: TrainingModel, path: string, optimizer: boolean): Promise<Result> {
    const stored = this.#state(path);
    const { run } = stored;
    if (JSON.stringify(run.lora) !== JSON.stringify(model.lora) || run.baseModel !== model.baseModel) {
      throw userFault(`${path} is of another base model or other LoRA settings than the model ${model.id}.`);
    }
    await this.#parts.checkpoints.reading(stored, (folder) => model.load(folder, optimizer));
    return json({ type: 'load_weights', model_id: model.id, path });
  }

  /** Answers at once; the work has its turn when every number below it has had its own. */
  submit({ kind, modelId: id, seqId, bytes, run }: Work): FuturePromise {
    const model = this.get(id);
    this.#parts.sessions.touch(model.sessionId);
    if (seqId === undefined || !Number.isSafeInteger(seqId) || seqId < 1) {
      throw refusal('bad-request', `seq_id is ${seqId}; requests of a model are numbered from 1.`);
    }
    const requestId = `${id}:${seqId}`;
    const promise = { request_id: requestId, model_id: id };
    if (this.#parts.futures.get(requestId) !== undefined) return promise;
    const { queue } = model;
    if (queue.isPast(seqId)) {
      throw refusal('bad-request', `seq_id ${seqId} of ${id} is over, and its result is no longer kept.`);
    }
    if (seqId > queue.next + MAX_AHEAD) {
      throw refusal('bad-request', `seq_id ${seqId} is far beyond ${queue.next}, which is the next of ${id}.`);
    }
    checkRoom(this.#parts, this.#queuedBytes + bytes);
    this.#parts.checkpoints.touch(id);
    const { settle } = this.#parts.futures.open({
      id: requestId,
      kind,
      sessionId: model.sessionId,
      queueState: () => {
        if (!queue.waitsForGap(seqId)) return { state: 'active' };
        return { state: 'active', reason: `request ${queue.next} of this model has not arrived yet` };
      },
    });
    this.#queuedBytes += bytes;
    let ended = false;
    const end = (outcome: { value: Result } | { failure: unknown }): void => {
      if (ended) return;
      ended = true;
      this.#queuedBytes -= bytes;
      settle(outcome);
    };
    queue.add(seqId, {
      fail: (failure) => end({ failure }),
      run: async () => {
        const began = performance.now();
        const timer = setTimeout(() => {
          end({ failure: this.#giveUp(model, requestId) });
        }, this.#parts.limits.jobMs);
        try {
          await model.ready();
          end({ value: await run(model) });
        } catch (failure) {
          end({ failure: this.#told(failure, model) });
        } finally {
          clearTimeout(timer);
          this.#parts.metrics.work(kind, (performance.now() - began) / 1000);
        }
      },
    });
    return promise;
  }

  /** A number that was refused will not come again. */
  refuse(id: string, seqId: number): void {
    const queue = this.#models.get(id)?.queue;
    if (queue !== undefined && seqId <= queue.next + MAX_AHEAD) queue.refuse(seqId);
  }

  /** Asked twice, it is unloaded once. */
  unload(id: string): FuturePromise {
    const requestId = `${id}:unload`;
    const promise = { request_id: requestId, model_id: id };
    if (this.#parts.futures.get(requestId) !== undefined) return promise;
    const model = this.get(id);
    const { settle } = this.#parts.futures.open({ id: requestId, kind: 'unload_model', sessionId: model.sessionId });
    this.#close(model, serverFault(`The model ${id} was unloaded.`)).then(
      () => settle({ value: json({ type: 'unload_model', model_id: id }) }),
      (failure: unknown) => settle({ failure }),
    );
    return promise;
  }

  /** Unloads what a session had. */
  async closeSession(sessionId: string, reason: unknown): Promise<void> {
    const models = [...this.#models.values()].filter((model) => model.sessionId === sessionId);
    await Promise.all(models.map((model) => this.#close(model, reason)));
  }

  async closeAll(reason: unknown): Promise<void> {
    await Promise.all([...this.#models.values()].map((model) => this.#close(model, reason)));
  }

  #create(
    request: Pick<CreateModelRequest, 'session_id' | 'model_seq_id' | 'optimizer_config' | 'user_metadata'>,
    kind: string,
    result: (id: string) => JsonObject,
    plan: () => Plan,
  ): FuturePromise {
    const { futures, sessions, checkpoints, limits, onFailure } = this.#parts;
    const session = sessions.use(request.session_id);
    const id = modelId(session.id, request.model_seq_id);
    const promise = { request_id: `${id}:0`, model_id: id };
    if (futures.get(promise.request_id) !== undefined) return promise;
    const opening = { id: promise.request_id, kind, sessionId: session.id };
    if (this.#models.has(id)) {
      futures.open(opening).settle({ value: json(result(id)) });
      return promise;
    }
    // Whoever died left its models behind.
    if (this.#models.size >= limits.maxModels) sessions.sweep(limits.neededTimeoutMs);
    if (this.#models.size >= limits.maxModels) {
      const text = `${limits.maxModels} models are trained here already; unload one, or end its session.`;
      failed(futures, opening, userFault(text));
      return promise;
    }
    let planned: Plan;
    try {
      checkOptimizer(request.optimizer_config);
      planned = plan();
    } catch (failure) {
      failed(futures, opening, failure);
      return promise;
    }
    const { from, ...settings } = planned;
    const state = from && { path: from.stored.folder, optimizer: from.optimizer };
    const model = new TrainingModel({ ...settings, from: state, id, sessionId: session.id, gapMs: limits.gapMs });
    this.#models.set(id, model);
    session.modelIds.add(id);
    const { settle } = futures.open(opening);
    const begin = async (): Promise<void> => {
      await (from === undefined ? model.ready() : checkpoints.reading(from.stored, () => model.ready()));
      const userMetadata = request.user_metadata ?? undefined;
      await checkpoints.addRun({
        version: 1,
        runId: id,
        sessionId: session.id,
        baseModel: model.baseModel,
        ...(model.lora === undefined ? {} : { lora: model.lora }),
        ...(userMetadata === undefined ? {} : { userMetadata }),
        createdAt: new Date().toISOString(),
      });
    };
    begin().then(
      () => settle({ value: json(result(id)) }),
      (failure: unknown) => {
        settle({ failure: this.#told(failure, model) });
        this.#close(model, failure).catch(onFailure);
        session.modelIds.delete(id);
      },
    );
    return promise;
  }

  #state(path: string): StoredCheckpoint {
    const parsed = parsePath(path);
    if (parsed.kind !== 'weights') {
      throw userFault(`${path} holds no optimiser state; restore from a path tinker://<run>/weights/<name>.`);
    }
    const found = this.#parts.checkpoints.find(parsed);
    if (found === undefined) throw userFault(`path ${path} does not exist; it may have been deleted or have expired.`);
    return found;
  }

  /** The failure as the client hears it: of a model that was given up, why it was. */
  #told(failure: unknown, model: TrainingModel): unknown {
    if (model.signal.aborted) return model.signal.reason;
    if (failureBody(failure).category === 'server') this.#parts.onFailure(failure);
    return failure;
  }

  /** Nobody knows what state it is in once a request does not end. */
  #giveUp(model: TrainingModel, requestId: string): Error {
    const minutes = this.#parts.limits.jobMs / 60_000;
    const failure = serverFault(
      `The request ${requestId} did not end within ${minutes} min, so its model was unloaded.`,
    );
    this.#parts.onFailure(failure);
    this.#close(model, failure).catch(this.#parts.onFailure);
    return failure;
  }

  async #close(model: TrainingModel, reason: unknown): Promise<void> {
    this.#models.delete(model.id);
    await model.close(reason);
  }
}

function readLora(
  given: CreateModelRequest['lora_config'],
  { maxRank = DEFAULT_MAX_RANK }: ServedModel,
): LoraRecord | undefined {
  if (given === undefined || given === null) return undefined;
  const { rank } = given;
  if (!(rank >= 1 && rank <= maxRank)) {
    throw userFault(`lora_config.rank is ${rank}; it must be a whole number from 1 to ${maxRank}.`);
  }
  const lora = {
    rank,
    trainAttention: given.train_attn ?? true,
    trainMlp: given.train_mlp ?? true,
    trainUnembed: given.train_unembed ?? true,
  };
  if (lora.trainAttention || lora.trainMlp || lora.trainUnembed) return lora;
  throw userFault('lora_config: one of train_attn, train_mlp and train_unembed must be true.');
}

function checkOptimizer(config: CreateModelRequest['optimizer_config']): void {
  if (config === undefined || config === null || config.type === 'adamw') return;
  throw userFault(`optimizer_config.type ${JSON.stringify(config.type)} is not served here; adamw is.`);
}
