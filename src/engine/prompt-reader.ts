// Reads sequences through a large model layer by layer: prompts into caches for decoding, from where an earlier prompt
// left off, and whole sequences to be scored. Every number of a sequence is the same whatever was read before: pieces and
// widths are multiples of one step, so that the runtime adds in the same order.

import { forwardLayerGraph } from './layer-graphs.ts';
import { layerFeeds, lookUp, type LayeredModel } from './layered-model.ts';
import type { PrefixCache } from './prefix-cache.ts';
import type { SequenceCache } from './row-cache.ts';
import type { Feeds } from './session.ts';

/** Tokens that are read at once. */
const PIECE = 1024;
/** Padded lengths, and lengths that are taken over from an earlier prompt, are multiples of this. */
const STEP = 64;

export type PromptRead = {
  readonly cache: SequenceCache;
  /** The stream at the last token, [D]. */
  readonly last: Float32Array;
  /** Tokens that were not read, because an earlier prompt began alike. */
  readonly reused: number;
};

export async function readPrompt(
  model: LayeredModel,
  weights: Feeds,
  tokens: readonly number[],
  prefixes: PrefixCache,
): Promise<PromptRead> {
  const { layers, kvHeads, headDim } = model.config;
  const places = padded(tokens.length);
  const found = prefixes.find(tokens);
  // The last token is always read: its stream is what is sampled from.
  const reused = found ? Math.floor(Math.min(found.length, tokens.length - 1) / STEP) * STEP : 0;
  const part = (): Float32Array[] => Array.from({ length: layers }, () => new Float32Array(kvHeads * places * headDim));
  const cache = { key: part(), value: part(), places };
  const both = ['key', 'value'] as const;
  if (found && reused > 0) {
    for (const name of both)
      for (let layer = 0; layer < layers; layer++)
        copyPlaces(found.cache[name][layer], found.cache.places, cache[name][layer], places, {
          heads: kvHeads,
          size: headDim,
          count: reused,
          at: 0,
        });
  }
  let last: Float32Array = new Float32Array(0);
  for (let from = reused; from < tokens.length; from += PIECE) {
    const piece = tokens.slice(from, from + PIECE);
    const time = padded(piece.length);
    last = await forward(model, weights, {
      tokens: piece,
      time,
      past: from,
      rows: [piece.length - 1],
      earlier: (name, layer) => {
        const data = new Float32Array(kvHeads * from * headDim);
        const shape = { heads: kvHeads, size: headDim, count: from, at: 0 };
        copyPlaces(cache[name][layer], places, data, from, shape);
        return { data, shape: [1, kvHeads, from, headDim] };
      },
      keep: (name, layer, data) => {
        const shape = { heads: kvHeads, size: headDim, count: Math.min(time, places - from), at: from };
        copyPlaces(data, time, cache[name][layer], places, shape);
      },
    });
  }
  prefixes.add(tokens, cache);
  return { cache, last, reused };
}

/** The stream after the last layer at every token: [tokens, D]. */
export async function readSequence(
  model: LayeredModel,
  weights: Feeds,
  tokens: readonly number[],
): Promise<Float32Array> {
  const rows = tokens.map((_, i) => i);
  return forward(model, weights, { tokens, time: padded(tokens.length), past: 0, rows });
}

type Piece = {
  readonly tokens: readonly number[];
  /** Padded length. */
  readonly time: number;
  /** Tokens before these. */
  readonly past: number;
  /** Tokens whose stream is wanted. */
  readonly rows: readonly number[];
  readonly earlier?: (name: 'key' | 'value', layer: number) => Feeds[string];
  readonly keep?: (name: 'key' | 'value', layer: number, data: Float32Array) => void;
};

async function forward(model: LayeredModel, weights: Feeds, piece: Piece): Promise<Float32Array> {
  const { config, layerSpecs } = model;
  const { layers, hiddenSize } = config;
  const { tokens, time, rows, keep, earlier } = piece;
  const past = piece.past > 0;
  const ids = new BigInt64Array(time);
  tokens.forEach((token, i) => (ids[i] = BigInt(token)));
  let stream: Float32Array = new Float32Array(time * hiddenSize);
  lookUp({ config, table: weights['embed'].data as Float32Array, ids, stream });
  const positions = model.positions(time, piece.past);
  for (let layer = 0; layer < layers; layer++) {
    const indexed = layer === layers - 1;
    const layout = model.layout(time, indexed);
    const cache = keep !== undefined;
    const session = await model.session(`read ${layout.blocks} ${indexed} ${cache} ${past}`, () =>
      forwardLayerGraph({ ...layout, keeps: false, cache, past }),
    );
    const feeds = {
      ...layerFeeds(weights, layerSpecs, layer),
      ...positions(layer),
      stream: { data: stream, shape: [time, hiddenSize] },
      index: { data: BigInt64Array.from(rows, BigInt), shape: [rows.length] },
      ...(past && earlier ? { 'past.key': earlier('key', layer), 'past.value': earlier('value', layer) } : {}),
    };
    const outputs = await session.run(session.pick(feeds));
    keep?.('key', layer, outputs['key']);
    keep?.('value', layer, outputs['value']);
    stream = outputs['stream.out'];
  }
  return stream;
}

type Places = { readonly heads: number; readonly size: number; readonly count: number; readonly at: number };

/** The first `count` places of each head of one cache to those from `at` on of another. */
function copyPlaces(
  from: Float32Array,
  fromPlaces: number,
  to: Float32Array,
  toPlaces: number,
  { heads, size, count, at }: Places,
): void {
  for (let head = 0; head < heads; head++) {
    const start = head * fromPlaces * size;
    to.set(from.subarray(start, start + count * size), (head * toPlaces + at) * size);
  }
}

function padded(length: number): number {
  return Math.ceil(length / STEP) * STEP;
}
