// Decoding by graphs of the whole model, whose weights are inputs: for small models, and for weights that change with every
// snapshot. Prompts are read in one padded batch; steps read one new token a sequence.

import type { SampledSequence } from '../core/index.ts';
import type { Call } from './call-queue.ts';
import { chooseToken, likeliestTokens } from './choose-token.ts';
import type { Cohort, ScoringBatch } from './cohorts.ts';
import type { Decoder } from './decoder.ts';
import { choicesGraph, promptGraph, scoringGraph, stepGraph, type ModelLayout } from './decoding-graph.ts';
import type { Graph } from './graph.ts';
import { RecentCache, selectBlocks, selectCache, takeCache, type Cache } from './kv-cache.ts';
import { loraParts, loraSpecs, type LoraConfig } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { maskFeeds, MASKED } from './packing.ts';
import { extendRows, fillerRow, finished, startRows, type Draw, type Job, type Row } from './sampled-rows.ts';
import { Session, type Feeds, type SessionOptions } from './session.ts';
import { weightSpecs } from './weights.ts';

/**
 * ONNX Runtime multiplies matrices of few rows with other kernels or cuts them otherwise, which rounds differently. At
 * least this many sequences, prompt tokens and scored tokens go through the engine, so that a request's numbers do not
 * depend on its company.
 */
export const MIN_SEQUENCES = 2;
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

export class WholeDecoder implements Decoder {
  readonly #runtime: SamplerRuntime;
  readonly #weights: () => Promise<Feeds>;

  /** `weights` is asked for them whenever they are used. */
  constructor(runtime: SamplerRuntime, weights: () => Promise<Feeds>) {
    this.#runtime = runtime;
    this.#weights = weights;
  }

  get config(): ModelConfig {
    return this.#runtime.config;
  }

  async sample(cohort: Cohort, jobs: readonly Job[]): Promise<(readonly SampledSequence[])[]> {
    const { layers, kvHeads, headDim, vocabSize } = this.#runtime.config;
    const { prompts, time } = cohort;
    const weights = await this.#weights();
    const first = await this.#readPrompts(prompts, time, weights);
    const all = jobs.flatMap((job, i) => startRows(job, cohort.promptOf[i]));
    let rows = all.length < MIN_SEQUENCES ? [...all, fillerRow(all[0])] : all;
    // From here on the caches hold one block a row; where requests share a prompt its block is repeated.
    const source = rows.map((row) => row.prompt);
    let prompt = selectCache(first.cache, first.lines, source);
    const recent = new RecentCache(layers);
    extendRows(rows, drawFrom(selectBlocks(first.logits, prompts.length, source), vocabSize));

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
      extendRows(rows, drawFrom(outputs['logits'], vocabSize));
    }
    return jobs.map((job) => all.filter((row) => row.job === job).map(finished));
  }

  async score({ time }: ScoringBatch, calls: readonly Call<readonly number[]>[]): Promise<number[][]> {
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

  async choices(
    tokens: readonly number[],
    { first, choices, count, topK }: Parameters<Decoder['choices']>[1],
  ): Promise<Record<string, Float32Array>> {
    const rows = Array.from({ length: count }, (_, i) => first + i);
    const feeds = this.#sequenceFeeds([tokens], tokens.length, rows, await this.#weights());
    return (await this.#runtime.choices()).run({
      ...feeds,
      index: { data: BigInt64Array.from(rows, BigInt), shape: [count] },
      choices: { data: choices, shape: [count, choices.length / count] },
      k: { data: BigInt64Array.of(BigInt(topK)), shape: [1] },
    });
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

/** Draws from plain logits, a line a row. */
function drawFrom(logits: Float32Array, vocabulary: number): (row: Row, line: number) => Draw {
  return ({ job, rng }, line) => {
    const { temperature = 1, topP = 1, topK = -1 } = job.request.params;
    const own = logits.subarray(line * vocabulary, (line + 1) * vocabulary);
    const chosen = chooseToken(own, { temperature, topP, topK }, rng.next());
    return { ...chosen, likeliest: (count) => likeliestTokens(own, count) };
  };
}

/** The token `back` places before the newest one of a row, reaching into its prompt; -1 before its start. */
function tokenBack({ tokens, job }: Row, back: number): bigint {
  const at = tokens.length - 1 - back;
  return BigInt((at >= 0 ? tokens[at] : job.request.prompt.at(at)) ?? -1);
}
