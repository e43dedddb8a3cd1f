// A model's tensors with an adapter folded in, one at a time: W + (alpha / rank) B A where there is one, W elsewhere.
// It needs no engine and holds no more than one matrix, whatever the size of the model.

import { TabwrightError } from '../../core/index.ts';
import type { WeightSource } from '../weight-source.ts';
import { pairsOf, type LoraPair, type PeftAdapter } from './peft-adapter.ts';
import type { TensorToWrite } from './safetensors-writer.ts';

export type MergeOptions = {
  readonly source: WeightSource;
  /** Default none: the tensors as they are. */
  readonly adapter?: PeftAdapter;
  readonly signal?: AbortSignal;
};

export type MergedModel = {
  /** The source's, but for a head that is the embedding no longer. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly tensors: readonly TensorToWrite[];
};

const HEAD = 'lm_head.weight';
const EMBEDDING = 'model.embed_tokens.weight';

export function mergedModel({ source, adapter, signal }: MergeOptions): MergedModel {
  const pairs = adapter ? pairsOf(adapter.tensors, adapter.rank, 'the adapter') : [];
  const byTensor = new Map(pairs.map((pair) => [`${pair.matrix}.weight`, pair]));
  const config = source.config as Readonly<Record<string, unknown>>;
  // An adapted head that is the embedding becomes a matrix of its own: embeddings are as they were.
  const parts = byTensor.has(HEAD) && isTied(config) && source.names.includes(EMBEDDING);
  const names = parts ? [...source.names.filter((name) => name !== HEAD), HEAD] : source.names;
  const sourceOf = (name: string): string => (parts && name === HEAD ? EMBEDDING : name);
  const known = new Set(names);
  for (const [name, { a, b }] of byTensor) {
    if (!known.has(name)) throw misfit(source, name, 'which the model does not have as a matrix of its own');
    const shape = source.shapeOf(sourceOf(name));
    if (shape.length !== 2 || shape[0] !== b.shape[0] || shape[1] !== a.shape[1]) {
      const adapted = `[${b.shape[0]}, ${a.shape[1]}]`;
      throw misfit(source, name, `as ${adapted}, while the model has it as [${shape.join(', ')}]`);
    }
  }
  const scale = adapter ? adapter.alpha / adapter.rank : 0;
  const tensors = names.map((name) => ({
    name,
    shape: source.shapeOf(sourceOf(name)),
    async read() {
      const data = await source.read(sourceOf(name), signal ? { signal } : {});
      const pair = byTensor.get(name);
      if (pair) addProduct(data, pair, scale);
      return data;
    },
  }));
  return { config: parts ? { ...config, tie_word_embeddings: false } : config, tensors };
}

/** Gemma's class ties where its config says nothing, the others do not. */
function isTied({ tie_word_embeddings: tied, model_type: type }: Readonly<Record<string, unknown>>): boolean {
  return typeof tied === 'boolean' ? tied : String(type).startsWith('gemma');
}

function addProduct(data: Float32Array, { a, b }: LoraPair, scale: number): void {
  const [rows, rank] = b.shape;
  const columns = a.shape[1];
  // Sums in double precision, rounded once.
  const sums = new Float64Array(columns);
  for (let row = 0; row < rows; row++) {
    sums.fill(0);
    for (let k = 0; k < rank; k++) {
      const factor = scale * b.data[row * rank + k];
      if (factor === 0) continue;
      for (let column = 0; column < columns; column++) sums[column] += factor * a.data[k * columns + column];
    }
    for (let column = 0; column < columns; column++) data[row * columns + column] += sums[column];
  }
}

function misfit({ origin }: WeightSource, tensor: string, why: string): TabwrightError {
  const message = `The adapter does not fit ${origin}: it adapts "${tensor}", ${why}. Is it another model's?`;
  return new TabwrightError('config', message, { code: 'adapter-misfit', details: { origin, tensor } });
}
