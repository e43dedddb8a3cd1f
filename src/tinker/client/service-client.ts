// The way in: the handshake, a session with its signs of life, and the clients of its models and samplers. One object a
// server; everything that it makes shares its limits and its memory of what the server cannot do.

import {
  clientConfigSchema,
  createSamplingSessionReplySchema,
  createSessionReplySchema,
  DEFAULT_LIMITS,
  dynamicConfigSchema,
  getInfoReplySchema,
  promiseSchema,
  weightsInfoReplySchema,
  type Capabilities,
  type GetInfoReply,
  type OptimizerConfig,
} from '../wire/index.ts';
import { AdminClient } from './admin-client.ts';
import { createByteBudget } from './budget.ts';
import { Caller } from './caller.ts';
import { clientError, isTinkerError, isUnknownEndpoint } from './client-error.ts';
import { Futures } from './futures.ts';
import { startHeartbeats } from './heartbeat.ts';
import { DEFAULT_PACING, type Pacing } from './pacing.ts';
import { RestClient, type CopyOptions } from './rest-client.ts';
import type { Shared } from './shared.ts';
import { SamplingClient } from './sampling-client.ts';
import { TrainingClient } from './training-client.ts';
import { Transport } from './transport.ts';

/** The generation of the protocol that this client speaks. */
export const SDK_VERSION = '0.38.0';

export type ServiceClientOptions = {
  readonly baseUrl: string;
  /** See `findApiKey`. */
  readonly apiKey: string;
  /** What goes into protobuf; servers of before 0.25 want `json`. Default: protobuf, and JSON from the first 415 on. */
  readonly codec?: 'auto' | 'protobuf' | 'json';
  readonly tags?: readonly string[];
  readonly userMetadata?: Readonly<Record<string, string>>;
  readonly pacing?: Partial<Pacing>;
  /** Bytes of one reply. Default 128 MiB. */
  readonly maxReplyBytes?: number;
  /** Told of what people should know: notes of the server, long waits. Default: nobody. */
  readonly onNotice?: (message: string) => void;
  readonly signal?: AbortSignal;
};

export type LoraSettings = {
  readonly rank: number;
  readonly seed?: number;
  readonly trainUnembed?: boolean;
  readonly trainMlp?: boolean;
  readonly trainAttention?: boolean;
};

export type CreateTrainingOptions = {
  readonly baseModel: string;
  /** Without it every weight is trained, which few servers offer. */
  readonly lora?: LoraSettings;
  /** Family of optimisers, e.g. `{ type: 'dimuon', version: 1 }`, for good. Default AdamW. */
  readonly optimizer?: OptimizerConfig;
  readonly userMetadata?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

export type FromStateOptions = {
  readonly path: string;
  /** Go on with the optimiser too. */
  readonly optimizer: boolean;
  readonly userMetadata?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

export class ServiceClient implements AsyncDisposable {
  readonly #shared: Shared;
  readonly #stopHeartbeats: () => void;
  #models = 0;
  #samplers = 0;
  #closed = false;

  private constructor(shared: Shared) {
    this.#shared = shared;
    this.#stopHeartbeats = startHeartbeats(shared);
  }

  static async connect(options: ServiceClientOptions): Promise<ServiceClient> {
    const { baseUrl, apiKey, codec = 'auto', signal, maxReplyBytes = DEFAULT_LIMITS.maxBytes } = options;
    const caller = new Caller({
      transport: new Transport({ baseUrl, apiKey, maxReplyBytes, userAgent: 'tabwright' }),
      pacing: { ...DEFAULT_PACING, ...options.pacing },
      limits: { ...DEFAULT_LIMITS, maxBytes: maxReplyBytes },
      onNotice: options.onNotice ?? (() => undefined),
    });
    const version = { sdk_version: SDK_VERSION };
    const config = await caller.json(clientConfigSchema, { path: 'client/config', body: version, signal });
    // SkyRL has none; the defaults serve then.
    const dynamic = await caller.send({ path: 'client/dynamic_config', body: version, signal, accepts: [404, 405] });
    const cancels =
      dynamic.status < 300 &&
      caller.read(dynamicConfigSchema, dynamic, 'client/dynamic_config').sample_cancel_enabled === true;
    const session = await caller.json(createSessionReplySchema, {
      path: 'create_session',
      body: {
        tags: options.tags ?? [],
        user_metadata: options.userMetadata ?? {},
        ...version,
        type: 'create_session',
      },
      signal,
    });
    for (const message of [session.info_message, session.warning_message]) if (message) caller.notice(message);
    if (session.error_message) {
      throw clientError(`The Tinker server opens no session: ${session.error_message}`, { code: 'tinker-refused' });
    }
    return new ServiceClient({
      caller,
      futures: new Futures(caller, createByteBudget(config.inflight_response_bytes_semaphore_size ?? 52_428_800)),
      sessionId: session.session_id,
      config,
      cancels,
      trainingBytes: createByteBudget(config.fwdbwd_dispatch_bytes_semaphore_size ?? 50_000_000),
      sampleBytes: createByteBudget(config.sample_dispatch_bytes_semaphore_size ?? 10_485_760),
      codec: { current: codec === 'json' ? 'json' : 'protobuf', fixed: codec !== 'auto' },
      samplingPause: { until: 0 },
    });
  }

  /** Without credentials, which it may not hold, and without a query. */
  get baseUrl(): string {
    return this.#shared.caller.transport.baseUrl;
  }

  get sessionId(): string {
    return this.#shared.sessionId;
  }

  /** Listing, deleting and fetching of what the account has; needs no model. */
  get rest(): RestClient {
    return new RestClient(this.#shared.caller);
  }

  /** What administrators ask: audit log, use, storage. */
  get admin(): AdminClient {
    return new AdminClient(this.#shared.caller);
  }

  capabilities(signal?: AbortSignal): Promise<Capabilities> {
    return this.rest.capabilities(signal);
  }

  /** A copy in the project of this session, in a run of its own; gives its path. */
  copyWeights(sourcePath: string, options: Omit<CopyOptions, 'into'> = {}): Promise<string> {
    this.#check();
    const into = { sessionId: this.sessionId, modelSeqId: this.#models++ };
    return this.rest.copyWeights(sourcePath, { ...options, into });
  }

  async createTrainingClient(options: CreateTrainingOptions): Promise<TrainingClient> {
    this.#check();
    const { baseModel, lora, optimizer = { type: 'adamw' }, userMetadata, signal } = options;
    const modelId = await this.#submitModel(
      'create_model',
      'CreateModel',
      {
        session_id: this.sessionId,
        model_seq_id: this.#models++,
        base_model: baseModel,
        ...(userMetadata === undefined ? {} : { user_metadata: userMetadata }),
        ...(lora === undefined ? {} : { lora_config: loraConfig(lora) }),
        optimizer_config: optimizer,
        type: 'create_model',
      },
      signal,
    );
    return this.#training(modelId, { firstSeqId: 1, signal });
  }

  /** A new model with the weights of a state, and its optimiser if that is wanted. */
  async createTrainingClientFromState(options: FromStateOptions): Promise<TrainingClient> {
    this.#check();
    const { path, optimizer, userMetadata, signal } = options;
    const sequence = this.#models++;
    try {
      await this.#submitModel(
        'load_weights',
        'LoadWeights',
        {
          session_id: this.sessionId,
          model_seq_id: sequence,
          path,
          optimizer,
          ...(userMetadata === undefined ? {} : { user_metadata: userMetadata }),
          type: 'load_weights',
        },
        signal,
      );
    } catch (error) {
      if (!isTinkerError(error, 'tinker-refused') || error.details['status'] !== 422) throw error;
      return this.#restoreInTwoSteps(options);
    }
    // The protocol's id of a model is known beforehand; the reply need not repeat it.
    return this.#training(`${this.sessionId}:train:${sequence}`, { firstSeqId: 1, signal });
  }

  /** For servers of before create-via-load: a model like the saved one, and its state as the first request. */
  async #restoreInTwoSteps({ path, optimizer, userMetadata, signal }: FromStateOptions): Promise<TrainingClient> {
    const info = await this.#shared.caller.json(weightsInfoReplySchema, {
      path: 'weights_info',
      body: { tinker_path: path },
      signal,
    });
    const client = await this.createTrainingClient({
      baseModel: info.base_model,
      signal,
      ...(userMetadata === undefined ? {} : { userMetadata }),
      ...(info.optimizer_config ? { optimizer: info.optimizer_config } : {}),
      ...(info.is_lora && info.lora_rank
        ? {
            lora: {
              rank: info.lora_rank,
              trainAttention: info.train_attn ?? true,
              trainMlp: info.train_mlp ?? true,
              trainUnembed: info.train_unembed ?? true,
            },
          }
        : {}),
    });
    await client.loadState(path, { optimizer, signal });
    return client;
  }

  /** Of a saved sampler (`path`) or of a base model. */
  async createSamplingClient(
    of: { readonly path: string } | { readonly baseModel: string },
    signal?: AbortSignal,
  ): Promise<SamplingClient> {
    this.#check();
    const reply = await this.#shared.caller.json(createSamplingSessionReplySchema, {
      path: 'create_sampling_session',
      body: {
        session_id: this.sessionId,
        sampling_session_seq_id: this.#samplers++,
        ...('path' in of ? { model_path: of.path } : { base_model: of.baseModel }),
        type: 'create_sampling_session',
      },
      signal,
    });
    return new SamplingClient(this.#shared, reply.sampling_session_id);
  }

  /** A further client of a sampler that somebody has made, perhaps another process. */
  joinSamplingClient(samplerId: string): SamplingClient {
    this.#check();
    return new SamplingClient(this.#shared, samplerId, { joins: true });
  }

  /** Ends the session; the server may free what belongs to it. */
  async close(outcome: 'success' | 'errored' | 'interrupted' = 'success'): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopHeartbeats();
    const { caller, sessionId } = this.#shared;
    // Best effort: servers without it free a session when its signs of life stop.
    await caller.transport
      .send({
        method: 'POST',
        path: `sessions/${sessionId}/finish`,
        body: { reason: { type: outcome }, detail: null },
        timeoutMs: caller.pacing.heartbeatMs,
      })
      .catch(() => undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #submitModel(
    path: 'create_model' | 'load_weights',
    requestType: 'CreateModel' | 'LoadWeights',
    body: object,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const { caller, futures } = this.#shared;
    const promise = await caller.json(promiseSchema, { path, body, signal });
    const result = await futures.result({ requestId: promise.request_id, requestType, signal }, (found) =>
      'json' in found ? found.json : null,
    );
    const named =
      typeof result === 'object' && result !== null && 'model_id' in result ? result['model_id'] : undefined;
    return typeof named === 'string' ? named : (promise.model_id ?? '');
  }

  async #training(
    modelId: string,
    { firstSeqId, signal }: { firstSeqId: number; signal: AbortSignal | undefined },
  ): Promise<TrainingClient> {
    const info = await this.#info(modelId, signal);
    return new TrainingClient(this.#shared, {
      modelId,
      info,
      firstSeqId,
      nextSampler: () => this.#samplers++,
    });
  }

  async #info(modelId: string, signal: AbortSignal | undefined): Promise<GetInfoReply | undefined> {
    try {
      return await this.#shared.caller.json(getInfoReplySchema, {
        path: 'get_info',
        body: { model_id: modelId, type: 'get_info' },
        signal,
      });
    } catch (error) {
      // Only newer generations ask; an older server may not know it.
      if (isUnknownEndpoint(error)) return undefined;
      throw error;
    }
  }

  #check(): void {
    if (this.#closed) throw clientError('This Tinker session is closed; connect again.', { code: 'tinker-closed' });
  }
}

function loraConfig({ rank, seed, trainUnembed, trainMlp, trainAttention }: LoraSettings): object {
  return {
    rank,
    ...(seed === undefined ? {} : { seed }),
    train_unembed: trainUnembed ?? true,
    train_mlp: trainMlp ?? true,
    train_attn: trainAttention ?? true,
  };
}
