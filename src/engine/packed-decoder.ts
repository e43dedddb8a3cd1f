// Decoding for large models: prompts are read layer by layer, from where an earlier one left off; steps are one graph with
// rearranged weights.

import type { Call } from './call-queue.ts';
import { chooseToken, drawProbability, likeliestToken, likeliestTokens } from './choose-token.ts';
import type { ScoringBatch } from './cohorts.ts';
import { MIN_SEQUENCES, type Decoder, type Draws, type ReadPrompt } from './decoder.ts';
import { choiceNodes } from './decoding-graph.ts';
import { DRAWS } from './drawing-nodes.ts';
import { Graph, type Value } from './graph.ts';
import { headGraph, logitsNodes, type HeadLayout } from './layer-graphs.ts';
import { lookUp, type LayeredModel } from './layered-model.ts';
import { loraParts, type LoraConfig } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { packAdapters } from './packed-adapters.ts';
import type { PackedRuntime } from './packed-runtime.ts';
import { KEPT_PROMPT_FLOATS, PrefixCache } from './prefix-cache.ts';
import { readPrompt, readSequence } from './prompt-reader.ts';
import type { RowCache } from './row-cache.ts';
import { lastPlace } from './running-batch.ts';
import type { Draw, Row } from './sampled-rows.ts';
import type { SharedPrompts } from './shared-prompts.ts';
import type { Feeds, Session } from './session.ts';
import { weightFeeds } from './weights.ts';

/** Rows of the head at a time, when sequences are scored. */
const HEAD_ROWS = 128;

export type PackedDecoderOptions = {
  readonly lora: LoraConfig | undefined;
  /** Adapter weights by name, as they are when they are used; none without adapters. */
  readonly own: () => Promise<Feeds>;
  /** Floats of keys and values kept of prompts that were read. Default `KEPT_PROMPT_FLOATS`. */
  readonly maxPrefixFloats?: number;
};

export class PackedDecoder implements Decoder {
  readonly config: ModelConfig;
  readonly sharesPrompts = true;
  readonly #runtime: PackedRuntime;
  readonly #options: PackedDecoderOptions;
  readonly #reader: LayeredModel;
  readonly #prefixes: PrefixCache;
  readonly #base: Feeds;
  /** The stream of sequences that are being scored, by the caller's array. */
  readonly #streams = new WeakMap<readonly number[], Promise<Float32Array>>();
  /** Adapters while something runs; they may come from a file. */
  #held: Promise<Feeds> | undefined;
  #packed: { readonly of: Feeds; readonly feeds: Feeds } | undefined;

  constructor(runtime: PackedRuntime, options: PackedDecoderOptions) {
    this.config = runtime.config;
    this.#runtime = runtime;
    this.#options = options;
    this.#reader = runtime.reader(options.lora);
    this.#prefixes = new PrefixCache({ maxFloats: options.maxPrefixFloats ?? KEPT_PROMPT_FLOATS });
    this.#base = weightFeeds(runtime.weights);
  }

  rest(): void {
    this.#held = undefined;
  }

  async read(prompts: readonly (readonly number[])[]): Promise<ReadPrompt[]> {
    const { hiddenSize, vocabSize } = this.config;
    if (prompts.length === 0) return [];
    const weights = { ...this.#base, ...(await (this.#held ??= this.#options.own())) };
    const lasts = new Float32Array(Math.max(MIN_SEQUENCES, prompts.length) * hiddenSize);
    const parts: Pick<ReadPrompt, 'cache' | 'reused'>[] = [];
    for (const [i, prompt] of prompts.entries()) {
      const { cache, last, reused } = await readPrompt(this.#reader, weights, prompt, this.#prefixes);
      parts.push({ cache, reused });
      lasts.set(last, i * hiddenSize);
    }
    const first = await this.#distributions(lasts, weights);
    return parts.map((part, i) => ({ ...part, draw: (row) => drawFirst(row, first, i, vocabSize) }));
  }

  async step(rows: readonly Row[], cache: RowCache, prompts: SharedPrompts): Promise<Draws> {
    const { hiddenSize, vocabSize, layers, kvHeads, headDim } = this.config;
    const own = await (this.#held ??= this.#options.own());
    const { session, adapted } = await this.#runtime.step(this.#options.lora !== undefined);
    const stream = new Float32Array(rows.length * hiddenSize);
    const ids = BigInt64Array.from(rows, ({ tokens }) => BigInt(tokens.at(-1)!));
    lookUp({ config: this.config, table: this.#runtime.weights.view('embed'), ids, stream });
    const places = rows.map(lastPlace);
    // One number a token of a row, however many lines it has.
    const uniforms = new Map([...new Set(rows)].map((row) => [row, row.rng.next()]));
    const feeds = {
      ...cache.feeds(rows.length),
      ...prompts.feeds(this.config, rows, cache.places),
      ...(adapted ? this.#adapterFeeds(own) : {}),
      stream: { data: stream, shape: [rows.length, hiddenSize] },
      positions: { data: BigInt64Array.from(places, BigInt), shape: [rows.length, 1] },
      uniform: { data: Float64Array.from(rows, (row) => uniforms.get(row)!), shape: [rows.length, 1] },
    };
    const whole = (row: Row): boolean => !isPlain(row, vocabSize) || (row.job.request.params.topLogprobs ?? 0) > 0;
    const wanted = rows.some(whole) ? ['logprobs'] : [];
    const { fresh, draws, logprobs } = await session.only(['fresh', 'draws', ...wanted], feeds);
    const size = rows.length * kvHeads * headDim;
    cache.append(
      (part, layer) => {
        const at = (part === 'key' ? layer : layers + layer) * size;
        return fresh.subarray(at, at + size);
      },
      rows.map(({ tokens }) => tokens.length - 1),
    );
    return (row, line) => {
      const likely = likelihoods(logprobs, line, vocabSize);
      if (!isPlain(row, vocabSize)) return choose(row, likely(), uniforms.get(row)!);
      const column = line * DRAWS.columns + (row.job.request.params.temperature === 0 ? DRAWS.likeliest : DRAWS.drawn);
      return {
        token: draws[column],
        logprob: draws[column + 1],
        likeliest: (count) => likeliestTokens(likely(), count, 0),
      };
    };
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

/** Whether a row's draws are those that the step makes: of the whole softmax, or the likeliest. */
function isPlain({ job }: Row, vocabulary: number): boolean {
  const { temperature = 1, topP = 1, topK = -1 } = job.request.params;
  return temperature === 0 || (temperature === 1 && topP >= 1 && !(topK > 0 && topK < vocabulary));
}

function choose({ job }: Row, own: Float32Array, uniform: number): Draw {
  const { temperature = 1, topP = 1, topK = -1 } = job.request.params;
  const { token } = chooseToken(own, { temperature, topP, topK }, uniform);
  return { token, logprob: own[token], likeliest: (count) => likeliestTokens(own, count, 0) };
}

/** A line of a batch's log-probabilities, once it is wanted. */
function likelihoods(all: Float32Array, line: number, vocabulary: number): () => Float32Array {
  return () => all.subarray(line * vocabulary, (line + 1) * vocabulary);
}

/** Draws from what may follow a prompt, which several rows may have. */
function drawFirst(
  row: Row,
  { logprobs, probabilities }: Readonly<Record<string, Float32Array>>,
  line: number,
  vocabulary: number,
): Draw {
  const own = likelihoods(logprobs, line, vocabulary)();
  const uniform = row.rng.next();
  const greedy = row.job.request.params.temperature === 0;
  if (!greedy && !isPlain(row, vocabulary)) return choose(row, own, uniform);
  const token = greedy ? likeliestToken(own) : drawProbability(likelihoods(probabilities, line, vocabulary)(), uniform);
  return { token, logprob: own[token], likeliest: (count) => likeliestTokens(own, count, 0) };
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
