// One model on the server: what can be asked of it. Its requests are carried out in the order in which they are made,
// which `model-turns.ts` sees to; how rows become requests is `passes.ts`.

import type { z } from 'zod';
import { abortable, withDeadline } from '../../util/index.ts';
import {
  loadResultSchema,
  optimStepResultSchema,
  promiseSchema,
  saveResultSchema,
  type ForwardBackwardOutput,
  type GetInfoReply,
  type WireAdamParams,
  type WireDatum,
} from '../wire/index.ts';
import { clientError, isTinkerError } from './client-error.ts';
import { customMetrics, targetsOnly, weightedBy, type WireCustomLoss } from './custom-loss.ts';
import type { RequestType } from './futures.ts';
import { ModelTurns, type Signal, type Submission } from './model-turns.ts';
import { passResult, submitPass, type LossSettings } from './passes.ts';
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

/** A step of another family than AdamW, e.g. `{ type: 'dimuon', learning_rate: 1e-3 }`; which one is chosen with the model. */
export type OtherOptimizerParams = { readonly type: string; readonly learning_rate: number } & Readonly<
  Record<string, unknown>
>;

export type SaveOptions = {
  readonly ttlSeconds?: number;
  readonly overwrite?: boolean;
  readonly userMetadata?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

export class TrainingClient {
  readonly modelId: string;
  readonly info: GetInfoReply | undefined;
  readonly #shared: Shared;
  readonly #nextSampler: () => number;
  readonly #turns: ModelTurns;

  constructor(shared: Shared, { modelId, info, firstSeqId, nextSampler }: TrainingClientOptions) {
    this.#shared = shared;
    this.modelId = modelId;
    this.info = info;
    this.#nextSampler = nextSampler;
    this.#turns = new ModelTurns(shared, { modelId, firstSeqId });
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
    const shared = this.#shared;
    const pass = { modelId: this.modelId, lossFn: 'cross_entropy', config: {} };
    const { output, custom, weighted, backward } = await this.#turns.take(options, async (turn) => {
      const first = { ...pass, data: rows, forwardOnly: true };
      const output = await passResult(shared, await submitPass(shared, turn, first), first, options);
      const logprobs = output.outputs.map((fields) => Float32Array.from(fields['logprobs'].values));
      const custom = loss(logprobs);
      const weighted = {
        ...pass,
        data: rows.map((row, i) => weightedBy(custom.gradients[i], row, i)),
        forwardOnly: false,
      };
      return { output, custom, weighted, backward: await submitPass(shared, turn, weighted) };
    });
    const surrogate = await passResult(shared, backward, weighted, options);
    return { ...output, metrics: customMetrics(surrogate, custom) };
  }

  /** `onBegin` is told when the step's turn comes; from then on it is carried out, whoever waits. */
  async optimStep(
    params: WireAdamParams | OtherOptimizerParams,
    options: Signal & { readonly onBegin?: () => void } = {},
  ): Promise<Readonly<Record<string, number>>> {
    const body = (seqId: number): object => ({
      model_id: this.modelId,
      seq_id: seqId,
      type: 'optim_step',
      ...('type' in params ? { optimizer_params: params } : { adam_params: params }),
    });
    const id = await this.#turns.take(options, (turn) => {
      options.onBegin?.();
      return turn.submit({ path: 'optim_step', requestType: 'OptimStep', body });
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
    const result = await this.#save({ path: 'save_weights', requestType: 'SaveWeights', body }, options);
    return pathOf(result.path, 'SaveWeights');
  }

  /** Weights for sampling; gives the path that samplers can be made from. */
  async saveForSampler(name: string, options: Omit<SaveOptions, 'overwrite'> = {}): Promise<string> {
    const body = (seqId: number): object => ({
      ...this.#saveBody(name, seqId, options),
      kind: 'snapshot',
      type: 'save_weights_for_sampler',
    });
    const result = await this.#save({ ...FOR_SAMPLER, body }, options);
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
    const result = await this.#save({ ...FOR_SAMPLER, body }, options);
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
    const submission = { path: 'save_weights_external', requestType: 'SaveWeightsExternal', body } as const;
    const result = await this.#save(submission, options);
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
    const submission = { path: 'load_weights', requestType: 'LoadWeights', body } as const;
    const id = await this.#turns.take({ signal }, (turn) => turn.submit(submission));
    await this.#result(loadResultSchema, id, 'LoadWeights', { signal });
  }

  /** Frees the model's place on the server. Newer servers do that when the session ends and may not know this. */
  async unload(signal?: AbortSignal): Promise<void> {
    await this.#turns.settled;
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
    this.#turns.close(this.#unloaded());
  }

  /**
   * For whoever leaves, perhaps because of a failure: one attempt to free the model's place, within the time of a sign of
   * life. It does not fail, since that would hide the first failure, and the session's end frees the place too.
   */
  async release(): Promise<void> {
    if (this.#turns.isClosed) return;
    const { caller, futures } = this.#shared;
    const { heartbeatMs } = caller.pacing;
    const leave = async (signal: AbortSignal): Promise<void> => {
      await abortable(this.#turns.settled, signal);
      const path = 'unload_model';
      const body = { model_id: this.modelId, type: path };
      const reply = await caller.transport.send({ method: 'POST', path, body, timeoutMs: heartbeatMs, signal });
      if (reply.status >= 300) return;
      const { request_id: requestId } = caller.read(promiseSchema, reply, path);
      await futures.result({ requestId, requestType: 'UnloadModel', signal }, () => undefined);
    };
    await withDeadline({ ms: heartbeatMs, onExpiry: () => this.#unloaded() }, leave).catch(() => undefined);
    this.#turns.close(this.#unloaded());
  }

  #unloaded(): Error {
    return clientError(`The model ${this.modelId} was unloaded.`, { code: 'tinker-closed' });
  }

  async #pass(pass: PassCall, options: Signal): Promise<ForwardBackwardOutput> {
    if (pass.data.length === 0) throw clientError('There are no rows to train on.', { code: 'no-rows' });
    const whole = { ...pass, modelId: this.modelId };
    const ids = await this.#turns.take(options, (turn) => submitPass(this.#shared, turn, whole));
    return passResult(this.#shared, ids, whole, options);
  }

  async #save(submission: Submission, options: Signal): Promise<z.infer<typeof saveResultSchema>> {
    const id = await this.#turns.take(options, (turn) => turn.submit(submission));
    return this.#result(saveResultSchema, id, submission.requestType, options);
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
}

type PassCall = {
  readonly data: readonly WireDatum[];
  readonly lossFn: string;
  readonly config: LossSettings;
  readonly forwardOnly: boolean;
};

const FOR_SAMPLER = { path: 'save_weights_for_sampler', requestType: 'SaveWeightsForSampler' } as const;

function pathOf(path: string | null | undefined, requestType: RequestType): string {
  if (path) return path;
  throw clientError(`The Tinker server gave no path for ${requestType}.`, { code: 'tinker-protocol' });
}
