// Decoding by graphs of the whole model, whose weights are inputs: for small models, and for weights that change with every
// snapshot. Prompts are read in one padded batch; steps read one new token a sequence.

import { cacheMasks } from './cached-attention.ts';
import type { Call } from './call-queue.ts';
import { chooseToken, likeliestTokens } from './choose-token.ts';
import { planReading, type ScoringBatch } from './cohorts.ts';
import { type Decoder, type Draws, type ReadPrompt } from './decoder.ts';
import { choicesGraph, promptGraph, scoringGraph, stepGraph, type ModelLayout } from './decoding-graph.ts';
import type { Graph } from './graph.ts';
import { loraParts, loraSpecs, type LoraConfig } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { maskFeeds } from './packing.ts';
import type { RowCache } from './row-cache.ts';
import { lastPlace } from './running-batch.ts';
import type { Row } from './sampled-rows.ts';
import { Session, type Feeds, type SessionOptions } from './session.ts';
import { weightSpecs } from './weights.ts';

/** Prompt tokens and scored tokens that go through the engine at least, for the reason of `MIN_SEQUENCES`. */
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
  /** While something runs; they may come from a file. */
  #held: Promise<Feeds> | undefined;

  /** `weights` is asked for them whenever they are used. */
  constructor(runtime: SamplerRuntime, weights: () => Promise<Feeds>) {
    this.#runtime = runtime;
    this.#weights = weights;
  }

  get config(): ModelConfig {
    return this.#runtime.config;
  }

  rest(): void {
    this.#held = undefined;
  }

  async read(prompts: readonly (readonly number[])[]): Promise<ReadPrompt[]> {
    const weights = await (this.#held ??= this.#weights());
    const read: ReadPrompt[] = [];
    for (const { requests, time } of planReading(prompts)) {
      const some = requests.map((i) => prompts[i]);
      (await this.#readTogether(some, time, weights)).forEach((one, i) => (read[requests[i]] = one));
    }
    return read;
  }

  async step(rows: readonly Row[], cache: RowCache): Promise<Draws> {
    const { taps, vocabSize } = this.config;
    const count = rows.length;
    const places = rows.map(lastPlace);
    const back = (distance: number): Feeds[string] => {
      return { data: BigInt64Array.from(rows, (row) => tokenBack(row, distance)), shape: [count] };
    };
    const feeds: Record<string, Feeds[string]> = {
      ...(await (this.#held ??= this.#weights())),
      ...cache.feeds(count),
      ...cacheMasks(this.config, places, cache.places),
      ids: back(0),
      positions: { data: BigInt64Array.from(places, BigInt), shape: [count, 1] },
    };
    for (let i = 1; i < taps; i++) feeds[`earlier.${i - 1}`] = back(i);
    const outputs = await (await this.#runtime.step()).run(feeds);
    cache.append((part, layer) => outputs[`${part}.${layer}`], places);
    return drawFrom(outputs['logits'], vocabSize);
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

  async #readTogether(prompts: readonly (readonly number[])[], time: number, weights: Feeds): Promise<ReadPrompt[]> {
    const { layers, vocabSize } = this.config;
    const last = prompts.map((prompt, line) => line * time + prompt.length - 1);
    const outputs = await (await this.#runtime.prompt()).run(this.#sequenceFeeds(prompts, time, last, weights));
    const draws = drawFrom(outputs['logits'], vocabSize);
    const lines = lineCount(prompts.length, time);
    const part = (name: 'k' | 'v', line: number): Float32Array[] =>
      Array.from({ length: layers }, (_, layer) => {
        const all = outputs[`${name}.${layer}`];
        return all.subarray((line * all.length) / lines, ((line + 1) * all.length) / lines);
      });
    return prompts.map((_, line) => ({
      cache: { key: part('k', line), value: part('v', line), places: time },
      draw: (row) => draws(row, line),
    }));
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
}

/** At least `MIN_TOKENS` ids, zeros after those given. */
function paddedIds(given: readonly number[]): Feeds[string] {
  const data = new BigInt64Array(Math.max(given.length, MIN_TOKENS));
  given.forEach((id, i) => (data[i] = BigInt(id)));
  return { data, shape: [data.length] };
}

/** Lines of a padded batch of `count` sequences. */
function lineCount(count: number, time: number): number {
  return Math.max(count, Math.ceil(MIN_TOKENS / time));
}

/** Draws from plain logits, a line a row. */
function drawFrom(logits: Float32Array, vocabulary: number): Draws {
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
