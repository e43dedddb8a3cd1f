// One model on the server: its requests in the order in which they are made, each with the next sequence number. A call's
// place in that order is taken when it is made; its numbers are given when its turn comes, so that a call that was given
// up before leaves no hole for the server to wait at.

import {
  decodeForwardBackwardOutput,
  encodeForwardBackwardRequest,
  forwardBackwardOutputFromJson,
  forwardBackwardRequestToJson,
  loadResultSchema,
  optimStepResultSchema,
  promiseSchema,
  saveResultSchema,
  type ForwardBackwardOutput,
  type GetInfoReply,
  type WireAdamParams,
  type WireDatum,
} from '../wire/index.ts';
import type { z } from 'zod';
import { abortable, withDeadline } from '../../util/index.ts';
import { chunkRows, datumBytes, joinOutputs } from './chunking.ts';
import { clientError, isTinkerError } from './client-error.ts';
import { customMetrics, targetsOnly, weightedBy, type WireCustomLoss } from './custom-loss.ts';
import type { FutureResult, RequestType } from './futures.ts';
import { SamplingClient } from './sampling-client.ts';
import type { Shared } from './shared.ts';

export type TrainingClientOptions = {
  readonly modelId: string;
  /** Absent where the server does not know get_info. */
  readonly info: GetInfoReply | undefined;
  readonly firstSeqId: number;
  /** Samplers are numbered over the whole session. */
  readonly nextSampler: () => number;
};

export type LossSettings = Readonly<Record<string, number | string>>;

export type SaveOptions = {
  readonly ttlSeconds?: number;
  readonly overwrite?: boolean;
  readonly userMetadata?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

type Signal = { readonly signal?: AbortSignal | undefined };

/** Steps that a turn may take; it is over when all are accepted, whether or not there are results yet. */
type Turn = {
  submit(
    path: string,
    requestType: RequestType,
    body: (seqId: number) => object | Uint8Array,
    bytes?: number,
  ): Promise<string>;
};

export class TrainingClient {
  readonly modelId: string;
  readonly info: GetInfoReply | undefined;
  readonly #shared: Shared;
  readonly #nextSampler: () => number;
  #seqId: number;
  #tail: Promise<unknown> = Promise.resolve();
  #lost: Error | undefined;

  constructor(shared: Shared, { modelId, info, firstSeqId, nextSampler }: TrainingClientOptions) {
    this.#shared = shared;
    this.modelId = modelId;
    this.info = info;
    this.#seqId = firstSeqId;
    this.#nextSampler = nextSampler;
  }

  forward(
    data: readonly WireDatum[],
    lossFn: string,
    config: LossSettings = {},
    options: Signal = {},
  ): Promise<ForwardBackwardOutput> {
    return this.#pass({ data, lossFn, config, forwardOnly: true }, options);
  }

  /** Adds the gradient of the summed loss to what the next step will use. */
  forwardBackward(
    data: readonly WireDatum[],
    lossFn: string,
    config: LossSettings = {},
    options: Signal = {},
  ): Promise<ForwardBackwardOutput> {
    return this.#pass({ data, lossFn, config, forwardOnly: false }, options);
  }

  /**
   * Any loss of log-probabilities: a forward pass, then cross-entropy with weights -dLoss/dLogprob, which has exactly the
   * wanted gradient. Calls made after this one come after both.
   */
  async forwardBackwardCustom(
    data: readonly WireDatum[],
    loss: WireCustomLoss,
    options: Signal = {},
  ): Promise<ForwardBackwardOutput> {
    const rows = data.map((datum, i) => targetsOnly(datum, i));
    const results = await this.#inTurn(options, async (turn) => {
      const forward = await this.#submitPass(turn, {
        data: rows,
        lossFn: 'cross_entropy',
        config: {},
        forwardOnly: true,
      });
      const output = await this.#passResult(forward, rows, 'Forward', options);
      const logprobs = output.outputs.map((fields) => Float32Array.from(fields['logprobs'].values));
      const custom = loss(logprobs);
      const weighted = rows.map((row, i) => weightedBy(custom.gradients[i], row, i));
      const backward = await this.#submitPass(turn, {
        data: weighted,
        lossFn: 'cross_entropy',
        config: {},
        forwardOnly: false,
      });
      return { output, custom, weighted, backward };
    });
    const { output, custom, weighted, backward } = results;
    const surrogate = await this.#passResult(backward, weighted, 'ForwardBackward', options);
    return { ...output, metrics: customMetrics(surrogate, custom) };
  }

  /** `onBegin` is told when the step's turn comes; from then on it is carried out, whoever waits. */
  async optimStep(
    params: WireAdamParams,
    options: Signal & { readonly onBegin?: () => void } = {},
  ): Promise<Readonly<Record<string, number>>> {
    const body = (seqId: number): object => ({
      model_id: this.modelId,
      seq_id: seqId,
      type: 'optim_step',
      adam_params: params,
    });
    const id = await this.#inTurn(options, (turn) => {
      options.onBegin?.();
      return turn.submit('optim_step', 'OptimStep', body);
    });
    return (await this.#result(optimStepResultSchema, id, 'OptimStep', options)).metrics ?? {};
  }

  /** Weights and optimiser; gives the path that they can be loaded from. */
  async saveState(name: string, options: SaveOptions = {}): Promise<string> {
    const body = (seqId: number): object => ({
      ...this.#saveBody(name, seqId, options),
      overwrite: options.overwrite ?? false,
      type: 'save_weights',
    });
    const id = await this.#inTurn(options, (turn) => turn.submit('save_weights', 'SaveWeights', body));
    return pathOf((await this.#result(saveResultSchema, id, 'SaveWeights', options)).path, 'SaveWeights');
  }

  /** Weights for sampling; gives the path that samplers can be made from. */
  async saveForSampler(name: string, options: Omit<SaveOptions, 'overwrite'> = {}): Promise<string> {
    const body = (seqId: number): object => ({
      ...this.#saveBody(name, seqId, options),
      kind: 'snapshot',
      type: 'save_weights_for_sampler',
    });
    const id = await this.#inTurn(options, (turn) =>
      turn.submit('save_weights_for_sampler', 'SaveWeightsForSampler', body),
    );
    const result = await this.#result(saveResultSchema, id, 'SaveWeightsForSampler', options);
    return pathOf(result.path, 'SaveWeightsForSampler');
  }

  /** A sampler of the weights as they are at this place in the order; later steps do not change it. */
  async saveWeightsAndGetSamplingClient(options: Signal = {}): Promise<SamplingClient> {
    const body = (seqId: number): object => ({
      model_id: this.modelId,
      sampling_session_seq_id: this.#nextSampler(),
      kind: 'snapshot',
      seq_id: seqId,
      type: 'save_weights_for_sampler',
    });
    const id = await this.#inTurn(options, (turn) =>
      turn.submit('save_weights_for_sampler', 'SaveWeightsForSampler', body),
    );
    const result = await this.#result(saveResultSchema, id, 'SaveWeightsForSampler', options);
    if (!result.sampling_session_id) {
      throw clientError('The Tinker server saved weights for sampling and named no sampler.', {
        code: 'tinker-protocol',
      });
    }
    return new SamplingClient(this.#shared, result.sampling_session_id);
  }

  /** In the layout that other programs read; gives its path. */
  async saveExternal(name: string, options: Omit<SaveOptions, 'overwrite'> = {}): Promise<string> {
    const body = (seqId: number): object => ({
      ...this.#saveBody(name, seqId, options),
      type: 'save_weights_external',
    });
    const id = await this.#inTurn(options, (turn) => turn.submit('save_weights_external', 'SaveWeightsExternal', body));
    const result = await this.#result(saveResultSchema, id, 'SaveWeightsExternal', options);
    return pathOf(result.path, 'SaveWeightsExternal');
  }

  /** Many servers allow it only as the first request of a model; `createTrainingClientFromState` always works. */
  async loadState(path: string, { optimizer, signal }: { readonly optimizer: boolean } & Signal): Promise<void> {
    const body = (seqId: number): object => ({
      model_id: this.modelId,
      seq_id: seqId,
      path,
      optimizer,
      type: 'load_weights',
    });
    const id = await this.#inTurn({ signal }, (turn) => turn.submit('load_weights', 'LoadWeights', body));
    await this.#result(loadResultSchema, id, 'LoadWeights', { signal });
  }

  /** Frees the model's place on the server. Newer servers do that when the session ends and may not know this. */
  async unload(signal?: AbortSignal): Promise<void> {
    await this.#tail;
    const { caller, futures } = this.#shared;
    try {
      const promise = await caller.json(promiseSchema, {
        path: 'unload_model',
        body: { model_id: this.modelId, type: 'unload_model' },
        signal,
      });
      await futures.result({ requestId: promise.request_id, requestType: 'UnloadModel', signal }, () => undefined);
    } catch (error) {
      if (!isTinkerError(error, 'tinker-not-found', 'tinker-protocol')) throw error;
    }
    this.#lost ??= this.#unloaded();
  }

  /**
   * For whoever leaves, perhaps because of a failure: one attempt to free the model's place, within the time of a sign of
   * life. It does not fail, since that would hide the first failure, and the session's end frees the place too.
   */
  async release(): Promise<void> {
    if (this.#lost !== undefined) return;
    const { caller, futures } = this.#shared;
    const { heartbeatMs } = caller.pacing;
    const leave = async (signal: AbortSignal): Promise<void> => {
      await abortable(this.#tail, signal);
      const path = 'unload_model';
      const body = { model_id: this.modelId, type: path };
      const reply = await caller.transport.send({ method: 'POST', path, body, timeoutMs: heartbeatMs, signal });
      if (reply.status >= 300) return;
      const { request_id: requestId } = caller.read(promiseSchema, reply, path);
      await futures.result({ requestId, requestType: 'UnloadModel', signal }, () => undefined);
    };
    await withDeadline({ ms: heartbeatMs, onExpiry: () => this.#unloaded() }, leave).catch(() => undefined);
    this.#lost ??= this.#unloaded();
  }

  #unloaded(): Error {
    return clientError(`The model ${this.modelId} was unloaded.`, { code: 'tinker-closed' });
  }

  async #pass(pass: Pass, options: Signal): Promise<ForwardBackwardOutput> {
    if (pass.data.length === 0) throw clientError('There are no rows to train on.', { code: 'no-rows' });
    const ids = await this.#inTurn(options, (turn) => this.#submitPass(turn, pass));
    return this.#passResult(ids, pass.data, pass.forwardOnly ? 'Forward' : 'ForwardBackward', options);
  }

  /** In order: a server that runs what comes as it comes is then right too. */
  async #submitPass(turn: Turn, { data, lossFn, config, forwardOnly }: Pass): Promise<readonly string[]> {
    const { config: server, codec } = this.#shared;
    const chunks = chunkRows(data, {
      maxRows: server.fwdbwd_max_chunk_len ?? 1024,
      maxBytes: server.fwdbwd_max_chunk_bytes_count ?? 5_000_000,
    });
    const ids: string[] = [];
    for (const chunk of chunks) {
      const bytes = chunk.reduce((sum, datum) => sum + datumBytes(datum), 0);
      const requestType = forwardOnly ? 'Forward' : 'ForwardBackward';
      const request = (seqId: number) => ({
        modelId: this.modelId,
        seqId,
        data: chunk,
        lossFn,
        lossConfig: config,
        forwardOnly,
      });
      if (codec.current === 'protobuf') {
        const encode = (seqId: number): Uint8Array => encodeForwardBackwardRequest(request(seqId));
        try {
          ids.push(await turn.submit('forward_backward', requestType, encode, bytes));
          continue;
        } catch (error) {
          // Unsupported media type: a server of the JSON generation, which has not looked at the number either.
          if (codec.fixed || !isTinkerError(error, 'tinker-refused') || error.details['status'] !== 415) throw error;
          codec.current = 'json';
          this.#seqId--;
        }
      }
      const encode = (seqId: number): object => forwardBackwardRequestToJson(request(seqId));
      ids.push(await turn.submit(forwardOnly ? 'forward' : 'forward_backward', requestType, encode, bytes));
    }
    return ids;
  }

  async #passResult(
    ids: readonly string[],
    data: readonly WireDatum[],
    requestType: RequestType,
    { signal }: Signal,
  ): Promise<ForwardBackwardOutput> {
    const { futures } = this.#shared;
    const read = (result: FutureResult): ForwardBackwardOutput => this.#readPass(result);
    const outputs = await Promise.all(ids.map((requestId) => futures.result({ requestId, requestType, signal }, read)));
    const joined = joinOutputs(outputs);
    if (joined.outputs.length !== data.length || joined.outputs.some((fields) => fields['logprobs'] === undefined)) {
      throw clientError(
        `The Tinker server gave ${joined.outputs.length} results for ${data.length} rows, or some without log-probabilities.`,
        { code: 'tinker-protocol', requestId: ids[0] },
      );
    }
    return joined;
  }

  #readPass(result: FutureResult): ForwardBackwardOutput {
    const { limits } = this.#shared.caller;
    return 'protobuf' in result
      ? decodeForwardBackwardOutput(result.protobuf, limits)
      : forwardBackwardOutputFromJson(result.json, limits);
  }

  async #result<T extends z.ZodType>(
    schema: T,
    requestId: string,
    requestType: RequestType,
    { signal }: Signal,
  ): Promise<z.infer<T>> {
    const { futures } = this.#shared;
    const json = await futures.result({ requestId, requestType, signal }, (found) =>
      'json' in found ? found.json : null,
    );
    const parsed = schema.safeParse(json);
    if (parsed.success) return parsed.data;
    throw clientError(`The result of ${requestType} is not Tinker's: ${parsed.error.issues[0].message}`, {
      code: 'tinker-protocol',
      requestId,
    });
  }

  #saveBody(name: string, seqId: number, { ttlSeconds, userMetadata }: SaveOptions): object {
    return {
      model_id: this.modelId,
      path: name,
      seq_id: seqId,
      ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
      ...(userMetadata === undefined ? {} : { user_metadata: userMetadata }),
    };
  }

  /**
   * Takes the next place at once and does `work` when it comes. The caller's signal ends its wait; a turn that has begun
   * goes on without it, because a number that was given has to arrive.
   */
  #inTurn<T>({ signal }: Signal, work: (turn: Turn) => Promise<T>): Promise<T> {
    const turn = this.#tail.then(() => {
      signal?.throwIfAborted();
      if (this.#lost !== undefined) throw this.#lost;
      return work({ submit: (...step) => this.#submit(...step) });
    });
    this.#tail = turn.catch(() => undefined);
    return signal === undefined ? turn : abortable(turn, signal);
  }

  async #submit(
    path: string,
    requestType: RequestType,
    body: (seqId: number) => object | Uint8Array,
    bytes = 0,
  ): Promise<string> {
    const { caller, trainingBytes } = this.#shared;
    const release = await trainingBytes.take(bytes);
    try {
      const message = body(this.#seqId);
      this.#seqId++;
      const promise = await caller.json(promiseSchema, {
        path,
        body: message,
        headers: { 'x-tinker-request-type': requestType },
      });
      return promise.request_id;
    } catch (error) {
      // A refusal uses its number up; where it is unknown whether the request arrived, nothing may follow it.
      if (isTinkerError(error, 'tinker-unreachable', 'tinker-timeout', 'tinker-unavailable')) {
        this.#lost = clientError(
          `An earlier request of the model ${this.modelId} was lost (${error.message}); go on from its last saved state.`,
          { code: 'tinker-model-lost', cause: error },
        );
      }
      throw error;
    } finally {
      release();
    }
  }
}

type Pass = {
  readonly data: readonly WireDatum[];
  readonly lossFn: string;
  readonly config: LossSettings;
  readonly forwardOnly: boolean;
};

function pathOf(path: string | null | undefined, requestType: RequestType): string {
  if (path) return path;
  throw clientError(`The Tinker server gave no path for ${requestType}.`, { code: 'tinker-protocol' });
}
