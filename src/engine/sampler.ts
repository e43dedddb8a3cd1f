// The embedded Sampler: batched, KV-cached decoding from an immutable copy of the weights. Requests that are
// waiting when the engine becomes free are sampled together; what a request gets does not depend on its company.

import { randomInt } from 'node:crypto';
import { TabwrightError } from '../core/index.ts';
import type {
  CallOptions,
  PromptScoreOptions,
  PromptScores,
  SampledSequence,
  SampleOptions,
  SampleRequest,
  SamplingParams,
  ScoringSampler,
  TopToken,
} from '../core/index.ts';
import { createRng, type Rng } from '../util/index.ts';
import { CallQueue, type Call } from './call-queue.ts';
import { chooseToken, likeliestTokens } from './choose-token.ts';
import { planCohorts, planScoring, type Cohort, type ScoringBatch } from './cohorts.ts';
import { choicesGraph, promptGraph, scoringGraph, stepGraph, type ModelLayout } from './decoding-graph.ts';
import { RecentCache, selectBlocks, selectCache, takeCache, type Cache } from './kv-cache.ts';
import type { Graph } from './graph.ts';
import type { ModelConfig } from './model-config.ts';
import { loraParts, loraSpecs, type LoraConfig } from './lora.ts';
import { maskFeeds, MASKED } from './packing.ts';
import { checkScoring, choiceRows, readChoices } from './prompt-scores.ts';
import { Session, type Feeds, type SessionOptions } from './session.ts';
import { weightFeeds, weightSpecs, type Weights } from './weights.ts';

/**
 * ONNX Runtime multiplies matrices of few rows with other kernels or cuts them otherwise, which rounds differently. At
 * least this many sequences, prompt tokens and scored tokens go through the engine, so that a request's numbers do not
 * depend on its company.
 */
const MIN_SEQUENCES = 2;
const MIN_TOKENS = 128;

export type SamplerRuntimeOptions = SessionOptions & {
  /** Adapters that samplers bring beside the weights. Default none. */
  readonly lora?: LoraConfig;
};

/** Compiled sampling graphs of one model shape, shared by all samplers of a trainer. */
export class SamplerRuntime {
  readonly config: ModelConfig;
  readonly #options: SessionOptions;
  readonly #layout: ModelLayout;
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor(config: ModelConfig, { lora, ...options }: SamplerRuntimeOptions = {}) {
    this.config = config;
    this.#options = options;
    const base = weightSpecs(config);
    const parts = lora ? loraParts(base, lora) : [];
    this.#layout = {
      config,
      specs: lora ? [...base, ...loraSpecs(parts, lora)] : base,
      ...(lora ? { lora: { parts, config: lora } } : {}),
    };
  }

  prompt(): Promise<Session> {
    return this.#session('prompt', () => promptGraph(this.#layout));
  }

  step(): Promise<Session> {
    // One thread: several would cut a product by its number of sequences, and steps are too small to gain from them.
    return this.#session('step', () => stepGraph(this.#layout), 1);
  }

  scoring(): Promise<Session> {
    return this.#session('scoring', () => scoringGraph(this.#layout));
  }

  choices(): Promise<Session> {
    return this.#session('choices', () => choicesGraph(this.#layout));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    for (const session of sessions) await (await session).release();
  }

  #session(name: string, graph: () => Graph, threads = this.#options.threads): Promise<Session> {
    const known = this.#sessions.get(name);
    if (known) return known;
    const session = Session.compile(graph(), threads === undefined ? {} : { threads });
    this.#sessions.set(name, session);
    return session;
  }
}

/** A request with what is to happen meanwhile. */
type Sampling = SampleRequest & Pick<SampleOptions, 'onToken' | 'stopWhen'>;
type Job = Call<Sampling>;

/** One sequence being sampled. */
type Row = {
  readonly job: Job;
  /** Which sample of its request. */
  readonly sample: number;
  /** Position of its prompt within the cohort. */
  readonly prompt: number;
  readonly rng: Rng;
  readonly tokens: number[];
  readonly logprobs: number[];
  readonly top: (readonly TopToken[])[];
  stop: 'stop' | 'length' | undefined;
  /** How many of the tokens count, once it has stopped. */
  length: number;
};

export class EmbeddedSampler implements ScoringSampler {
  readonly version: number;
  readonly #runtime: SamplerRuntime;
  readonly #weights: () => Promise<Feeds>;
  readonly #sampling = new CallQueue<Sampling, Cohort, readonly SampledSequence[]>({
    plan: planCohorts,
    serve: (cohort, jobs) => this.#sampleCohort(cohort, jobs),
  });
  readonly #scoring = new CallQueue<readonly number[], ScoringBatch, readonly number[]>({
    plan: (sequences) => planScoring(sequences, this.#runtime.config.vocabSize),
    serve: (batch, calls) => this.#score(batch, calls),
  });
  readonly #onClose: (() => void) | undefined;
  #disposed = false;

  /** `weights` must not change afterwards; a function is asked for them whenever they are used. */
  constructor(
    runtime: SamplerRuntime,
    weights: Weights | (() => Promise<Feeds>),
    version: number,
    { onClose }: { readonly onClose?: () => void } = {},
  ) {
    this.#runtime = runtime;
    this.#onClose = onClose;
    if (typeof weights === 'function') this.#weights = weights;
    else {
      const feeds = Promise.resolve(weightFeeds(weights));
      this.#weights = () => feeds;
    }
    this.version = version;
  }

  async sample(
    request: SampleRequest,
    { signal, onToken, stopWhen }: SampleOptions = {},
  ): Promise<readonly SampledSequence[]> {
    signal?.throwIfAborted();
    this.#check(request);
    checkParams(request.params);
    if (!onToken && !stopWhen) return this.#sampling.add(request, signal);
    // A listener that throws ends its own request alone.
    const failed = new AbortController();
    const guard =
      <A extends unknown[], R>(listener: (...values: A) => R, otherwise: R) =>
      (...values: A): R => {
        try {
          return listener(...values);
        } catch (error) {
          failed.abort(error);
          return otherwise;
        }
      };
    const job: Sampling = {
      ...request,
      ...(onToken ? { onToken: guard(onToken, undefined) } : {}),
      ...(stopWhen ? { stopWhen: guard(stopWhen, true) } : {}),
    };
    return this.#sampling.add(job, signal ? AbortSignal.any([signal, failed.signal]) : failed.signal);
  }

  async computeLogprobs(tokens: readonly number[], { signal }: CallOptions = {}): Promise<readonly number[]> {
    signal?.throwIfAborted();
    this.#check({ prompt: tokens, numSamples: 1, params: { maxTokens: 0 } });
    return this.#scoring.add(tokens, signal);
  }

  async scorePrompt(tokens: readonly number[], options: PromptScoreOptions = {}): Promise<PromptScores> {
    const { topK = 0, targets, signal } = options;
    const logprobs = await this.computeLogprobs(tokens, { signal });
    if (topK === 0 && targets === undefined) return { logprobs };
    checkScoring(tokens, options, this.#runtime.config.vocabSize);
    const run = async (first: number, choices: BigInt64Array, count: number): Promise<Record<string, Float32Array>> => {
      const rows = Array.from({ length: count }, (_, i) => first + i);
      const feeds = this.#sequenceFeeds([tokens], tokens.length, rows, await this.#weights());
      const index = { data: BigInt64Array.from(rows, BigInt), shape: [count] };
      const width = choices.length / count;
      return (await this.#runtime.choices()).run({
        ...feeds,
        index,
        choices: { data: choices, shape: [count, width] },
        k: { data: BigInt64Array.of(BigInt(Math.max(1, topK))), shape: [1] },
      });
    };
    const scores = { logprobs, ...(await readChoices(choiceRows(tokens, options), run)) };
    signal?.throwIfAborted();
    return scores;
  }

  /** Waits for what is being computed; later calls are refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    await this.#sampling.idle();
    await this.#scoring.idle();
    this.#onClose?.();
  }

  async #sampleCohort(cohort: Cohort, jobs: readonly Job[]): Promise<(readonly SampledSequence[])[]> {
    const { layers, kvHeads, headDim } = this.#runtime.config;
    const { prompts, time } = cohort;
    const weights = await this.#weights();
    const first = await this.#readPrompts(prompts, time, weights);
    const all = jobs.flatMap((job, i) => startRows(job, cohort.promptOf[i]));
    let rows = all.length < MIN_SEQUENCES ? [...all, fillerRow(all[0])] : all;
    // From here on the caches hold one block a row; where requests share a prompt its block is repeated.
    const source = rows.map((row) => row.prompt);
    let prompt = selectCache(first.cache, first.lines, source);
    const recent = new RecentCache(layers);
    extendRows(rows, selectBlocks(first.logits, prompts.length, source));

    for (;;) {
      for (const row of rows) if (row.job.signal?.aborted) row.stop ??= 'length';
      const alive = rows.flatMap((row, i) => (row.stop === undefined ? [i] : []));
      if (alive.length === 0) break;
      // Finished rows are carried along until they are the majority: moving the caches costs more than computing them.
      if (alive.length <= rows.length / 2 && rows.length > MIN_SEQUENCES) {
        const kept = alive.length < MIN_SEQUENCES ? [alive[0], alive[0] === 0 ? 1 : 0] : alive;
        prompt = selectCache(prompt, rows.length, kept);
        recent.select(rows.length * kvHeads * headDim, rows.length, kept);
        rows = kept.map((i) => rows[i]);
      }
      const session = await this.#runtime.step();
      const view = recent.view(rows.length * kvHeads * headDim);
      const outputs = await session.run({ ...weights, ...this.#stepFeeds(rows, time, prompt, view) });
      recent.append(takeCache(outputs, layers));
      extendRows(rows, outputs['logits']);
    }
    return jobs.map((job) => all.filter((row) => row.job === job).map(finished));
  }

  async #score({ time }: ScoringBatch, calls: readonly Call<readonly number[]>[]): Promise<number[][]> {
    const index: number[] = [];
    const targets: number[] = [];
    calls.forEach(({ request }, line) =>
      request.slice(1).forEach((token, position) => {
        index.push(line * time + position);
        targets.push(token);
      }),
    );
    const sequences = calls.map(({ request }) => request);
    const feeds = {
      ...this.#sequenceFeeds(sequences, time, index, await this.#weights()),
      targets: paddedIds(targets),
    };
    const { logprobs } = await (await this.#runtime.scoring()).run(feeds);
    let at = 0;
    return calls.map(({ request }) => {
      const start = at;
      at += request.length - 1;
      return [NaN, ...logprobs.subarray(start, at)];
    });
  }

  #check({ prompt, numSamples, params }: SampleRequest): void {
    if (this.#disposed)
      throw new TabwrightError('backend', 'This sampler is closed; take a new one from the trainer.', {
        code: 'sampler-closed',
      });
    const { vocabSize, maxPositions } = this.#runtime.config;
    const fail = (message: string, code: string): never => {
      throw new TabwrightError('backend', message, { code });
    };
    if (prompt.length === 0) fail('The prompt has no tokens; it needs at least one.', 'empty-prompt');
    const bad = prompt.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabSize));
    if (bad !== undefined) fail(`Token id ${bad} is outside the vocabulary of ${vocabSize}.`, 'token-out-of-range');
    if (prompt.length + params.maxTokens > maxPositions) {
      fail(
        `A prompt of ${prompt.length} tokens and ${params.maxTokens} new ones exceed the model's ${maxPositions} positions.`,
        'sequence-too-long',
      );
    }
    if (!(Number.isInteger(numSamples) && numSamples >= 1))
      fail(`numSamples must be a positive integer, not ${numSamples}.`, 'bad-sampling-params');
  }

  /** Last logits of prompts, and keys and values, a line each: of those given and of fillers after them. */
  async #readPrompts(
    prompts: readonly (readonly number[])[],
    time: number,
    weights: Feeds,
  ): Promise<{ logits: Float32Array; cache: Cache; lines: number }> {
    const lines = lineCount(prompts.length, time);
    const last = prompts.map((prompt, line) => line * time + prompt.length - 1);
    const outputs = await (await this.#runtime.prompt()).run(this.#sequenceFeeds(prompts, time, last, weights));
    const logits = outputs['logits'].subarray(0, prompts.length * this.#runtime.config.vocabSize);
    return { logits, cache: takeCache(outputs, this.#runtime.config.layers), lines };
  }

  /** What both graphs over whole sequences read: `lineCount` lines of ids, and the rows to be scored, fillers after them. */
  #sequenceFeeds(
    sequences: readonly (readonly number[])[],
    time: number,
    scored: readonly number[],
    weights: Feeds,
  ): Feeds {
    const ids = new BigInt64Array(lineCount(sequences.length, time) * time);
    sequences.forEach((sequence, line) =>
      sequence.forEach((token, position) => (ids[line * time + position] = BigInt(token))),
    );
    return {
      ...weights,
      ids: { data: ids, shape: [ids.length] },
      ...maskFeeds(this.#runtime.config, time),
      index: paddedIds(scored),
    };
  }

  #stepFeeds(rows: readonly Row[], time: number, prompt: Cache, recent: Cache): Feeds {
    const { taps, layers, kvHeads, headDim, maxPositions, sliding } = this.#runtime.config;
    const count = rows.length;
    // Rows that had finished are fed too; all of a batch have sampled equally many tokens.
    const sampled = rows[0].tokens.length;
    const width = time + sampled;
    const mask = new Float32Array(count * width);
    const lengths = rows.map((row) => row.job.request.prompt.length);
    lengths.forEach((length, i) => mask.fill(MASKED, i * width + length, i * width + time));
    const feeds: Record<string, Feeds[string]> = {
      ids: { data: BigInt64Array.from(rows, (row) => tokenBack(row, 0)), shape: [count] },
      positions: {
        data: BigInt64Array.from(lengths, (length) => BigInt(Math.min(length + sampled, maxPositions) - 1)),
        shape: [count, 1],
      },
      mask: { data: mask, shape: [count, 1, 1, width] },
    };
    if (sliding) {
      const local = mask.slice();
      lengths.forEach((length, i) => {
        // The newest token is at position length + sampled - 1; the first that it sees may lie in the prompt or after it.
        const first = length + sampled - sliding.window;
        if (first > 0) local.fill(MASKED, i * width, i * width + Math.min(first, length));
        if (first > length) local.fill(MASKED, i * width + time, i * width + time + first - length);
      });
      feeds['mask.sliding'] = { data: local, shape: [count, 1, 1, width] };
    }
    for (let i = 1; i < taps; i++) {
      feeds[`earlier.${i - 1}`] = { data: BigInt64Array.from(rows, (row) => tokenBack(row, i)), shape: [count] };
    }
    for (let layer = 0; layer < layers; layer++) {
      for (const part of ['k', 'v'] as const) {
        feeds[`prompt.${part}.${layer}`] = { data: prompt[part][layer], shape: [count, kvHeads, time, headDim] };
        feeds[`recent.${part}.${layer}`] = {
          data: recent[part][layer],
          shape: [sampled - 1, count, kvHeads, headDim],
        };
      }
    }
    return feeds;
  }
}

/** At least `MIN_TOKENS` ids, zeros after those given. */
function paddedIds(given: readonly number[]): Feeds[string] {
  const data = new BigInt64Array(Math.max(given.length, MIN_TOKENS));
  given.forEach((id, i) => (data[i] = BigInt(id)));
  return { data, shape: [data.length] };
}

/** Lines of a padded batch of `count` sequences. */
function lineCount(count: number, time: number): number {
  return Math.max(count, MIN_SEQUENCES, Math.ceil(MIN_TOKENS / time));
}

/** Refuses settings that cannot be honoured, rather than ignoring them. */
function checkParams(params: SamplingParams): void {
  const { maxTokens, temperature = 1, topP = 1, topK = -1, seed = 0, topLogprobs = 0 } = params;
  const fail = (name: string, value: number, range: string): never => {
    throw new TabwrightError('backend', `Sampling parameter ${name} is ${value}; it must be ${range}.`, {
      code: 'bad-sampling-params',
      details: { name, value },
    });
  };
  if (!(Number.isInteger(maxTokens) && maxTokens >= 1)) fail('maxTokens', maxTokens, 'a positive integer');
  if (!(temperature >= 0 && Number.isFinite(temperature)))
    fail('temperature', temperature, 'zero or a positive number');
  if (!(topP > 0 && topP <= 1)) fail('topP', topP, 'above 0 and at most 1');
  if (!(topK === -1 || (Number.isInteger(topK) && topK >= 1))) fail('topK', topK, 'a positive integer, or -1 for off');
  if (!(Number.isInteger(topLogprobs) && topLogprobs >= 0))
    fail('topLogprobs', topLogprobs, 'a whole number, 0 for none');
  if (!Number.isSafeInteger(seed)) fail('seed', seed, 'a safe integer');
}

function startRows(job: Job, prompt: number): Row[] {
  const seed = job.request.params.seed ?? randomInt(2 ** 47);
  return Array.from({ length: job.request.numSamples }, (_, i) => {
    return {
      job,
      sample: i,
      prompt,
      rng: createRng('sample', seed + i),
      tokens: [],
      logprobs: [],
      top: [],
      stop: undefined,
      length: 0,
    };
  });
}

/** A row that is computed beside `row` and belongs to nobody. */
function fillerRow({ job, prompt }: Row): Row {
  const rng = createRng('filler');
  return { job, sample: -1, prompt, rng, tokens: [], logprobs: [], top: [], stop: 'length', length: 0 };
}

/** Appends one token to every row; rows that have already finished get a filler that nobody reads. */
function extendRows(rows: readonly Row[], logits: Float32Array): void {
  const vocabulary = logits.length / rows.length;
  rows.forEach((row, i) => {
    const { params, onToken, stopWhen } = row.job.request;
    const { temperature = 1, topP = 1, topK = -1, stop = [], maxTokens, topLogprobs = 0 } = params;
    const own = logits.subarray(i * vocabulary, (i + 1) * vocabulary);
    const chosen = chooseToken(own, { temperature, topP, topK }, row.rng.next());
    row.tokens.push(chosen.token);
    row.logprobs.push(chosen.logprob);
    if (row.stop !== undefined) return;
    if (topLogprobs > 0) row.top.push(likeliestTokens(own, topLogprobs));
    onToken?.(row.sample, chosen.token, chosen.logprob);
    if (stop.includes(chosen.token) || stopWhen?.(row.tokens)) row.stop = 'stop';
    else if (row.tokens.length >= maxTokens) row.stop = 'length';
    if (row.stop !== undefined) row.length = row.tokens.length;
  });
}

/** The token `back` places before the newest one of a row, reaching into its prompt; -1 before its start. */
function tokenBack({ tokens, job }: Row, back: number): bigint {
  const at = tokens.length - 1 - back;
  return BigInt((at >= 0 ? tokens[at] : job.request.prompt.at(at)) ?? -1);
}

function finished({ job, tokens, logprobs, top, length, stop }: Row): SampledSequence {
  const sequence = { tokens: tokens.slice(0, length), logprobs: logprobs.slice(0, length), stop: stop! };
  return (job.request.params.topLogprobs ?? 0) > 0 ? { ...sequence, topLogprobs: top } : sequence;
}
