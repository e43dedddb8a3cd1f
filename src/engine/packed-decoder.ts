// Decoding for large models: prompts are read layer by layer, from where an earlier one left off; steps are one graph with
// rearranged weights. Sequences of any length share a batch and leave it as they end.

import type { SampledSequence } from '../core/index.ts';
import type { Call } from './call-queue.ts';
import { chooseToken, drawProbability, likeliestTokens } from './choose-token.ts';
import { planMixed, type Cohort, type ScoringBatch } from './cohorts.ts';
import type { Decoder } from './decoder.ts';
import { choiceNodes } from './decoding-graph.ts';
import { Graph, type Value } from './graph.ts';
import { headGraph, logitsNodes, type HeadLayout } from './layer-graphs.ts';
import { lookUp, type LayeredModel } from './layered-model.ts';
import { loraParts, type LoraConfig } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { packAdapters } from './packed-adapters.ts';
import type { PackedRuntime } from './packed-runtime.ts';
import { MASKED } from './packing.ts';
import { PrefixCache } from './prefix-cache.ts';
import { readPrompt, readSequence } from './prompt-reader.ts';
import { RowCache, type SequenceCache } from './row-cache.ts';
import { extendRows, fillerRow, finished, startRows, type Draw, type Job, type Row } from './sampled-rows.ts';
import type { Feeds, Session } from './session.ts';
import { weightFeeds } from './weights.ts';
import { MIN_SEQUENCES } from './whole-decoder.ts';

/** Rows of the head at a time, when sequences are scored. */
const HEAD_ROWS = 128;
/** Places that a cache grows by when it is full. */
const PLACES = 64;

export type PackedDecoderOptions = {
  readonly lora: LoraConfig | undefined;
  /** Adapter weights by name, as they are when they are used; none without adapters. */
  readonly own: () => Promise<Feeds>;
  /** Floats of keys and values kept of prompts that were read. Default 2^26, 256 MiB. */
  readonly maxPrefixFloats?: number;
};

export class PackedDecoder implements Decoder {
  readonly config: ModelConfig;
  readonly plan = planMixed;
  readonly #runtime: PackedRuntime;
  readonly #options: PackedDecoderOptions;
  readonly #reader: LayeredModel;
  readonly #prefixes: PrefixCache;
  readonly #base: Feeds;
  /** The stream of sequences that are being scored, by the caller's array. */
  readonly #streams = new WeakMap<readonly number[], Promise<Float32Array>>();
  #packed: { readonly of: Feeds; readonly feeds: Feeds } | undefined;

  constructor(runtime: PackedRuntime, options: PackedDecoderOptions) {
    this.config = runtime.config;
    this.#runtime = runtime;
    this.#options = options;
    this.#reader = runtime.reader(options.lora);
    this.#prefixes = new PrefixCache({ maxFloats: options.maxPrefixFloats ?? 2 ** 26 });
    this.#base = weightFeeds(runtime.weights);
  }

  async sample(cohort: Cohort, jobs: readonly Job[]): Promise<(readonly SampledSequence[])[]> {
    const { layers, kvHeads, headDim, hiddenSize, vocabSize } = this.config;
    const own = await this.#options.own();
    const weights = { ...this.#base, ...own };
    const caches: SequenceCache[] = [];
    const lasts = new Float32Array(Math.max(MIN_SEQUENCES, cohort.prompts.length) * hiddenSize);
    for (const [i, prompt] of cohort.prompts.entries()) {
      const asked = jobs.some(({ signal }, job) => cohort.promptOf[job] === i && !signal?.aborted);
      if (!asked) {
        caches.push({ key: [], value: [], places: 0 });
        continue;
      }
      const read = await readPrompt(this.#reader, weights, prompt, this.#prefixes);
      caches.push(read.cache);
      lasts.set(read.last, i * hiddenSize);
    }
    const all = jobs.flatMap((job, i) => startRows(job, cohort.promptOf[i]));
    for (const row of all) if (row.job.signal?.aborted) row.stop = 'length';
    const first = await this.#distributions(lasts, weights);
    extendRows(all, (row) => draw(row, first, row.prompt, vocabSize));

    let rows = all.filter(({ stop }) => stop === undefined);
    if (rows.length === 1) rows = [...rows, shadow(rows[0])];
    const longest = Math.max(0, ...rows.map(({ job }) => job.request.prompt.length));
    const shape = { layers, heads: kvHeads, size: headDim };
    const cache = new RowCache(shape, rows.length, PLACES * Math.ceil((longest + PLACES) / PLACES));
    rows.forEach((row, i) => cache.fill(i, caches[row.prompt], row.job.request.prompt.length));
    while (rows.some(({ stop }) => stop === undefined)) {
      const places = rows.map(lastPlace);
      // One place more than is needed, so that the last one is never seen.
      const needed = Math.max(...places) + 2;
      if (needed > cache.places)
        cache.grow(rows.length, Math.max(needed, Math.ceil((cache.places * 1.5) / PLACES) * PLACES));
      const outputs = await this.#step(rows, cache, { places, own });
      extendRows(rows, (row, line) => draw(row, outputs, line, vocabSize));
      for (const row of rows) if (row.job.signal?.aborted) row.stop ??= 'length';
      rows = leave(rows, cache);
    }
    return jobs.map((job) => all.filter((row) => row.job === job).map(finished));
  }

  async score(_batch: ScoringBatch, calls: readonly Call<readonly number[]>[]): Promise<number[][]> {
    const results: number[][] = [];
    for (const { request } of calls) {
      const targets = BigInt64Array.from(request.slice(1), BigInt);
      const logprobs = await this.#inSlices(request, async (session, weights, { from, to, rows }) => {
        const shape = [to - from];
        const feeds = {
          ...weights,
          rows,
          targets: { data: targets.slice(from, to), shape },
          'loss.weights': { data: new Float32Array(to - from), shape },
        };
        return (await session.run(session.pick(feeds)))['logprobs'];
      });
      results.push([NaN, ...logprobs.flatMap((part) => [...part])]);
    }
    return results;
  }

  async choices(
    tokens: readonly number[],
    { first, choices, count, topK }: Parameters<Decoder['choices']>[1],
  ): Promise<Readonly<Record<string, Float32Array>>> {
    const { hiddenSize } = this.config;
    const weights = { ...this.#base, ...(await this.#options.own()) };
    const stream = await this.#stream(tokens, weights);
    const session = await this.#reader.session('choices', () => headChoicesGraph(this.#reader.head));
    const rows = stream.subarray(first * hiddenSize, (first + count) * hiddenSize);
    const feeds = {
      ...weights,
      rows: { data: rows, shape: [count, hiddenSize] },
      choices: { data: choices, shape: [count, choices.length / count] },
      k: { data: BigInt64Array.of(BigInt(topK)), shape: [1] },
    };
    return session.run(session.pick(feeds));
  }

  async #step(
    rows: readonly Row[],
    cache: RowCache,
    { places, own }: { readonly places: readonly number[]; readonly own: Feeds },
  ): Promise<Record<string, Float32Array>> {
    const { hiddenSize } = this.config;
    const { session, adapted } = await this.#runtime.step(this.#options.lora !== undefined);
    const stream = new Float32Array(rows.length * hiddenSize);
    const ids = BigInt64Array.from(rows, ({ tokens }) => BigInt(tokens.at(-1)!));
    lookUp({ config: this.config, table: this.#runtime.weights.view('embed'), ids, stream });
    const feeds = {
      ...cache.feeds(rows.length),
      ...this.#masks(places, cache.places),
      ...(adapted ? this.#adapterFeeds(own) : {}),
      stream: { data: stream, shape: [rows.length, hiddenSize] },
      positions: { data: BigInt64Array.from(places, BigInt), shape: [rows.length, 1] },
    };
    const outputs = await session.run(feeds);
    cache.append(outputs, places);
    return outputs;
  }

  /** The new token first, then the places of the cache, of which those before it are seen. */
  #masks(places: readonly number[], width: number): Feeds {
    const make = (first: (place: number) => number): Feeds[string] => {
      const data = new Float32Array(places.length * (1 + width));
      places.forEach((place, row) => {
        const line = data.subarray(row * (1 + width), (row + 1) * (1 + width));
        line.fill(MASKED, 1 + place);
        line.fill(MASKED, 1, 1 + first(place));
      });
      return { data, shape: [places.length, 1, 1, 1 + width] };
    };
    const { sliding } = this.config;
    const full = make(() => 0);
    if (!sliding) return { mask: full };
    return { mask: full, 'mask.sliding': make((place) => Math.max(0, place - sliding.window + 1)) };
  }

  #adapterFeeds(own: Feeds): Feeds {
    const { lora } = this.#options;
    if (this.#packed?.of !== own) {
      const set = lora && { parts: loraParts(this.#runtime.weights.specs, lora), config: lora, weights: own };
      this.#packed = { of: own, feeds: packAdapters(this.config, set) };
    }
    return this.#packed.feeds;
  }

  /** What may follow streams [N, D]: `logprobs` and `probabilities` [N, V]. */
  async #distributions(data: Float32Array, weights: Feeds): Promise<Record<string, Float32Array>> {
    const { hiddenSize } = this.config;
    const session = await this.#reader.session('distributions', () => distributionGraph(this.#reader.head));
    const rows = { data, shape: [data.length / hiddenSize, hiddenSize] };
    return session.run(session.pick({ ...weights, rows }));
  }

  async #inSlices<T>(
    tokens: readonly number[],
    run: (session: Session, weights: Feeds, slice: { from: number; to: number; rows: Feeds[string] }) => Promise<T>,
  ): Promise<T[]> {
    const { hiddenSize } = this.config;
    const weights = { ...this.#base, ...(await this.#options.own()) };
    const stream = await this.#stream(tokens, weights);
    const session = await this.#reader.session('score', () =>
      headGraph(this.#reader.head, 'cross_entropy', { slopes: false, trainable: [] }),
    );
    const results: T[] = [];
    for (let from = 0; from < tokens.length - 1; from += HEAD_ROWS) {
      const to = Math.min(from + HEAD_ROWS, tokens.length - 1);
      const data = stream.subarray(from * hiddenSize, to * hiddenSize);
      results.push(await run(session, weights, { from, to, rows: { data, shape: [to - from, hiddenSize] } }));
    }
    return results;
  }

  #stream(tokens: readonly number[], weights: Feeds): Promise<Float32Array> {
    const known = this.#streams.get(tokens);
    if (known) return known;
    const stream = readSequence(this.#reader, weights, tokens);
    this.#streams.set(tokens, stream);
    return stream;
  }
}

/** A row that is computed beside another that would be alone: like it so far, and nobody's. */
function shadow(row: Row): Row {
  return { ...fillerRow(row), tokens: [...row.tokens], logprobs: [...row.logprobs] };
}

/** The place of a row's newest token in its sequence. */
function lastPlace({ job, tokens }: Row): number {
  return job.request.prompt.length + tokens.length - 1;
}

/** Without the rows that have ended, whose places are taken by the last ones; two at least go on. */
function leave(rows: readonly Row[], cache: RowCache): Row[] {
  const kept = [...rows];
  for (let i = kept.length - 1; i >= 0 && kept.length > MIN_SEQUENCES; i--) {
    if (kept[i].stop === undefined) continue;
    const last = kept.length - 1;
    cache.move(last, i);
    kept[i] = kept[last];
    kept.pop();
  }
  return kept;
}

function draw(
  { job, rng }: Row,
  { logprobs, probabilities }: Readonly<Record<string, Float32Array>>,
  line: number,
  vocabulary: number,
): Draw {
  const { temperature = 1, topP = 1, topK = -1 } = job.request.params;
  const own = logprobs.subarray(line * vocabulary, (line + 1) * vocabulary);
  const likeliest: Draw['likeliest'] = (count) => likeliestTokens(own, count, 0);
  const uniform = rng.next();
  if (temperature === 1 && topP >= 1 && !(topK > 0 && topK < vocabulary)) {
    const token = drawProbability(probabilities.subarray(line * vocabulary, (line + 1) * vocabulary), uniform);
    return { token, logprob: own[token], likeliest };
  }
  if (temperature === 0) {
    const token = likeliest(1)[0].token;
    return { token, logprob: own[token], likeliest };
  }
  const { token } = chooseToken(own, { temperature, topP, topK }, uniform);
  return { token, logprob: own[token], likeliest };
}

function distributionGraph(head: HeadLayout): Graph {
  const g = new Graph();
  const logits = logitsNodes(g, head);
  for (const [name, op] of Object.entries({ logprobs: 'LogSoftmax', probabilities: 'Softmax' }))
    g.node(op, [logits], [{ type: 'float32', shape: logits.shape }], { attributes: { axis: -1 }, names: [name] });
  g.prune();
  return g;
}

function headChoicesGraph(head: HeadLayout): Graph {
  const g = new Graph();
  const logits: Value = logitsNodes(g, head);
  choiceNodes(g, logits);
  g.prune();
  return g;
}
