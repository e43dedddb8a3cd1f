// Samplers that clients ask: of base weights, of saved ones, or snapshots without a name. Each is immutable; requests of
// one sampler run beside each other, in whatever order, and each becomes a future at once.

import { linkedController } from '../../util/index.ts';
import type { Sampler, ScoringSampler, SampledSequence } from '../../core/index.ts';
import { topkTable, type WireSampleRequest, type WireSampleResponse } from '../../tinker/index.ts';
import { CompletionLog } from './completion-log.ts';
import { formatPath, parsePath, samplerId, sessionOf } from './names.ts';
import { failureBody, refusal, serverFault, userFault } from './refusals.ts';
import { SamplerPool } from './sampler-pool.ts';
import { readSample, targetAnswer, type ReadSample } from './sampling-params.ts';
import type { ServedModel } from './served-model.ts';
import { checkRoom, failed, type FuturePromise, type ServiceParts } from './service-parts.ts';
import type { TrainingModel } from './training-model.ts';

export type SamplerSource = {
  readonly served: ServedModel;
  /** As the client called it. */
  readonly baseModel: string;
  readonly modelPath?: string;
  /** Runs with the sampler, which stays open meanwhile. */
  readonly use: <T>(work: (sampler: Sampler) => Promise<T>) => Promise<T>;
};

export type SamplingSession = SamplerSource & {
  readonly id: string;
  readonly sessionId: string;
  /** By clone of the client. */
  readonly completions: Map<number, CompletionLog>;
};

/** A snapshot that has no name; it is closed when enough others of its model were used since. */
type Held = { readonly id: string; readonly sampler: Sampler; users: number; closing: boolean };

/** Clones of a client count from multiples of this. */
const CLONE_STRIDE = 1_000_000_000n;

export class SamplingService {
  readonly #parts: ServiceParts;
  readonly #pool: SamplerPool;
  readonly #sessions = new Map<string, SamplingSession>();
  /** By model, longest unused first. */
  readonly #held = new Map<string, Held[]>();
  readonly #closing = new AbortController();
  #pending = 0;
  #direct = 0;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#pool = new SamplerPool({ keep: parts.limits.openSamplers });
    parts.metrics.gauge('tabwright_pending_samples', 'Requests for samples that have not ended.', () => this.#pending);
    parts.metrics.gauge('tabwright_open_samplers', 'Samplers in memory.', () => {
      return this.#pool.open + [...this.#held.values()].reduce((sum, held) => sum + held.length, 0);
    });
  }

  get(id: string): SamplingSession {
    const found = this.#sessions.get(id);
    if (found !== undefined) return found;
    this.#parts.sessions.use(sessionOf(id)); // says so where the session is the reason
    throw refusal('not-found', `There is no sampler ${JSON.stringify(id)}.`);
  }

  /** Of base weights or of a saved checkpoint; asked twice with the same number, the same one. */
  create(sessionId: string, sequence: number, of: { baseModel?: string; modelPath?: string }): string {
    const session = this.#parts.sessions.use(sessionId);
    const id = samplerId(session.id, sequence);
    if (!this.#sessions.has(id)) {
      this.#add(id, sessionId, this.source(of));
      session.samplerIds.add(id);
    }
    return id;
  }

  /** A snapshot of a model as it is at this place in the order of its requests. */
  async hold(model: TrainingModel, sequence: number): Promise<string> {
    const id = samplerId(model.sessionId, sequence);
    if (this.#sessions.has(id)) return id;
    const sampler = await model.snapshot();
    if (this.#parts.sessions.find(model.sessionId)?.ended !== undefined) {
      await sampler[Symbol.asyncDispose](); // the session's end has already closed what there was
      throw serverFault(`The session ${model.sessionId} ended while a sampler was made.`);
    }
    const held: Held = { id, sampler, users: 0, closing: false };
    const all = this.#held.get(model.id) ?? [];
    this.#held.set(model.id, all);
    all.push(held);
    const over = all.splice(0, Math.max(0, all.length - this.#parts.limits.heldSamplers));
    this.#add(id, model.sessionId, {
      served: model.served,
      baseModel: model.baseModel,
      use: async (work) => {
        if (held.closing) {
          throw userFault(
            `The sampler ${id} was closed, because ${this.#parts.limits.heldSamplers} others of its model were used since; save weights that are needed longer under a name.`,
          );
        }
        held.users++;
        // A reference that every step of a run scores with stays, however many samplers are made meanwhile.
        all.push(...all.splice(all.indexOf(held), 1));
        try {
          return await work(held.sampler);
        } finally {
          held.users--;
          if (held.closing && held.users === 0) await held.sampler[Symbol.asyncDispose]();
        }
      },
    });
    this.#parts.sessions.find(model.sessionId)?.samplerIds.add(id);
    for (const { id: old } of over) this.#sessions.get(old)?.completions.clear();
    await Promise.all(over.map(close));
    return id;
  }

  /** What samples of a name or of a path. */
  source({ baseModel, modelPath }: { baseModel?: string; modelPath?: string }): SamplerSource {
    if (modelPath === undefined) {
      if (baseModel === undefined) throw userFault('base_model or model_path is needed to sample.');
      const served = this.#parts.models.get(baseModel);
      const key = `${served.names[0]} base`;
      return { served, baseModel, use: (work) => this.#pool.use(key, () => served.backend.openSampler(), work) };
    }
    const path = parsePath(modelPath);
    if (path.kind !== 'sampler_weights') {
      throw userFault(`${modelPath} is no sampler's: sample from tinker://<run>/sampler_weights/<name>.`);
    }
    const stored = this.#parts.checkpoints.get(path);
    const { run, folder } = stored;
    if (baseModel !== undefined && baseModel !== run.baseModel) {
      throw userFault(`base_model is ${baseModel}, but ${modelPath} is of ${run.baseModel}.`);
    }
    const served = this.#parts.models.get(run.baseModel);
    return {
      served,
      baseModel: run.baseModel,
      modelPath: formatPath(path),
      use: (work) => {
        const open = (): Promise<Sampler> =>
          this.#parts.checkpoints.reading(stored, () => served.backend.openSampler(folder));
        return this.#pool.use(folder, open, work);
      },
    };
  }

  submit(request: WireSampleRequest, bytes: number): FuturePromise {
    const { samplingSessionId, seqId } = request;
    const { futures, sessions } = this.#parts;
    let source: SamplerSource;
    let sampling: SamplingSession | undefined;
    let requestId: string;
    if (samplingSessionId === undefined) {
      source = this.source(request);
      requestId = `direct-${++this.#direct}:sample:${crypto.randomUUID()}`;
    } else {
      source = sampling = this.get(samplingSessionId);
      sessions.touch(sampling.sessionId);
      if (seqId === undefined || seqId < 0n) {
        throw refusal('bad-request', 'seq_id is missing; requests of a sampling session are numbered from 0.');
      }
      requestId = `${samplingSessionId}:${seqId}`;
    }
    const count = Math.max(0, Math.min(request.numSamples, 4_096));
    const promise = {
      request_id: requestId,
      sample_sequence_ids: Array.from({ length: count }, (_, i) => `${requestId}:${i}`),
    };
    if (futures.get(requestId) !== undefined) return promise;
    this.#checkPending();
    checkRoom(this.#parts, bytes);
    const { controller, unlink } = linkedController(this.#closing.signal);
    const opening = {
      id: requestId,
      kind: 'sample',
      sessionId: sampling?.sessionId,
      cancel: () => controller.abort(new DOMException('The request was cancelled.', 'AbortError')),
    };
    const log = sampling === undefined || seqId === undefined ? undefined : completionsOf(sampling, seqId);
    let read: ReadSample;
    try {
      read = readSample(request, source.served);
    } catch (failure) {
      unlink();
      failed(futures, opening, failure);
      log?.add({ state: 'failed', request_id: requestId });
      return promise;
    }
    const { settle } = futures.open(opening);
    this.#pending++;
    const began = performance.now();
    const { jobMs } = this.#parts.limits;
    const timer = setTimeout(() => {
      const failure = serverFault(`The samples of ${requestId} did not come within ${jobMs / 60_000} min.`);
      this.#parts.onFailure(failure);
      settle({ failure }); // at once: what does not end may not hear of it
      controller.abort(failure);
    }, jobMs);
    this.#sample(source, read, request, controller.signal)
      .then(
        (response) => {
          settle({ value: { kind: 'sample', response } });
          log?.add({ state: 'finished', request_id: requestId });
        },
        (failure: unknown) => {
          if (failureBody(failure).category === 'server' && !controller.signal.aborted) this.#parts.onFailure(failure);
          settle({ failure });
          log?.add({ state: 'failed', request_id: requestId });
        },
      )
      .finally(() => {
        clearTimeout(timer);
        unlink();
        this.#pending--;
        this.#parts.metrics.work('sample', (performance.now() - began) / 1000);
      });
    return promise;
  }

  /** Work with a sampler whose caller waits for it, under the same limit as everyone's. */
  async direct<T extends readonly SampledSequence[]>(
    source: SamplerSource,
    work: (sampler: Sampler) => Promise<T>,
  ): Promise<T> {
    this.#checkPending();
    this.#pending++;
    const began = performance.now();
    try {
      const sequences = await source.use(work);
      this.#countSampled(sequences);
      return sequences;
    } finally {
      this.#pending--;
      this.#parts.metrics.work('sample', (performance.now() - began) / 1000);
    }
  }

  /** Which requests of a sampler have ended. */
  completions(id: string, clone: number): CompletionLog {
    return completionsOf(this.get(id), BigInt(clone) * CLONE_STRIDE);
  }

  async closeSession(sessionId: string): Promise<void> {
    for (const [id, sampling] of this.#sessions) if (sampling.sessionId === sessionId) this.#sessions.delete(id);
    const models = [...this.#held.keys()].filter((model) => sessionOf(model) === sessionId);
    for (const model of models) {
      const held = this.#held.get(model)!;
      this.#held.delete(model);
      await Promise.all(held.map(close));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(serverFault('The server is shutting down.'));
    await Promise.all([...this.#held.values()].flat().map(close));
    await this.#pool[Symbol.asyncDispose]();
  }

  #checkPending(): void {
    if (this.#pending < this.#parts.limits.maxPendingSamples) return;
    throw refusal('too-busy', `${this.#pending} samples wait already; ask again in a moment.`);
  }

  #countSampled(sequences: readonly SampledSequence[]): void {
    const tokens = sequences.reduce((sum, sequence) => sum + sequence.tokens.length, 0);
    this.#parts.metrics.tokens('sampled', tokens);
  }

  #add(id: string, sessionId: string, source: SamplerSource): void {
    this.#sessions.set(id, { ...source, id, sessionId, completions: new Map() });
  }

  async #sample(
    source: SamplerSource,
    read: ReadSample,
    request: WireSampleRequest,
    signal: AbortSignal,
  ): Promise<WireSampleResponse> {
    return source.use(async (sampler) => {
      signal.throwIfAborted();
      const { prompt, numSamples, params, stopWhen } = read;
      let reused = 0;
      const told = { signal, onPrompt: (tokens: number) => (reused = tokens) };
      const [sequences, scores] = await Promise.all([
        sampler.sample({ prompt, numSamples, params }, { ...told, ...(stopWhen === undefined ? {} : { stopWhen }) }),
        scoresOf(sampler, read, request, signal),
      ]);
      this.#countSampled(sequences);
      return {
        sequences: sequences.map((sequence) => wireSequence(sequence, params.topLogprobs ?? 0)),
        promptCacheHitTokens: reused,
        ...scores,
      };
    });
  }
}

function completionsOf(sampling: SamplingSession, seqId: bigint): CompletionLog {
  const clone = Number(seqId / CLONE_STRIDE);
  let log = sampling.completions.get(clone);
  if (log === undefined) sampling.completions.set(clone, (log = new CompletionLog()));
  return log;
}

async function close(held: Held): Promise<void> {
  if (held.closing) return;
  held.closing = true;
  if (held.users === 0) await held.sampler[Symbol.asyncDispose]();
}

async function scoresOf(
  sampler: Sampler,
  { prompt, score }: ReadSample,
  request: WireSampleRequest,
  signal: AbortSignal,
): Promise<Partial<WireSampleResponse>> {
  if (score === undefined) return {};
  const { topK, targets, lastN } = score;
  const scores =
    isScoring(sampler) && (topK > 0 || targets !== undefined)
      ? await sampler.scorePrompt(prompt, { signal, topK, ...(targets === undefined ? {} : { targets }) })
      : { logprobs: await sampler.computeLogprobs(prompt, { signal }) };
  if ((topK > 0 && scores.topK === undefined) || (targets !== undefined && scores.targets === undefined)) {
    throw userFault('topk_prompt_logprobs and target_prompt_logprobs are not supported by this model.');
  }
  const logprobs = Float32Array.from(scores.logprobs);
  if (lastN !== undefined) logprobs.fill(NaN, 0, Math.max(0, logprobs.length - lastN));
  return {
    ...(score.logprobs ? { promptLogprobs: logprobs } : {}),
    ...(topK > 0 ? { topkPromptLogprobs: topkTable(scores.topK!, topK) } : {}),
    ...(targets === undefined
      ? {}
      : { targetPromptLogprobs: targetAnswer(request.targetPromptLogprobs!, scores.targets!) }),
  };
}

function isScoring(sampler: Sampler): sampler is ScoringSampler {
  return 'scorePrompt' in sampler;
}

function wireSequence({ tokens, logprobs, stop, topLogprobs }: SampledSequence, k: number) {
  if (k > 0 && topLogprobs === undefined) throw userFault('topk_sample_logprobs is not supported by this model.');
  return {
    stopReason: stop,
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs),
    ...(k > 0 ? { topk: topkTable(topLogprobs!, k) } : {}),
  };
}
