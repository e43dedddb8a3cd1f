// What tiny models need to become GGUF files: a vocabulary of letters, and for Gemma 3 the settings that llama.cpp fixes and
// the six layers of its pattern.

import type { GgufEntry, TensorToWrite } from '../../src/engine/index.ts';

/** Rows of the fixtures' embeddings. */
export const VOCABULARY = 64;

/** Letters enough for the fixtures' ids. llama.cpp opens no file without a vocabulary. */
export const LETTERS: ReadonlyMap<string, GgufEntry> = new Map<string, GgufEntry>([
  ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
  ['tokenizer.ggml.pre', { type: 'string', value: 'gpt-2' }],
  [
    'tokenizer.ggml.tokens',
    {
      type: 'array',
      element: 'string',
      value: Array.from({ length: VOCABULARY }, (_, i) => (i === 0 ? 'Ċ' : String.fromCodePoint(0x21 + i))),
    },
  ],
  ['tokenizer.ggml.token_type', { type: 'array', element: 'int32', value: Array<number>(VOCABULARY).fill(1) }],
  ['tokenizer.ggml.merges', { type: 'array', element: 'string', value: [] }],
]);

/** A vocabulary of Gemma's kind as llama.cpp's converter writes it: marks, runs of white space, bytes, letters, merges. */
export const GEMMA_PIECES = ((): { tokens: string[]; scores: number[]; types: number[] } => {
  const marks = ['<pad>', '<eos>', '<bos>', '<unk>', '<mask>', '<unused0>', '<start_of_turn>', '<end_of_turn>'];
  const own = ['\n', '\n\n', '  ', '   ', '<b>', '</b>'];
  const bytes = ['<0x0A>', '<0xC3>', '<0xA9>'];
  const made = ['\u2581t', 'he', '\u2581the', 'us', 'er', 'user', 'mo', 'el', 'del', 'model'];
  const letters = [...'\u2581etaoinshrdlcumwfgypbvkjxqz.,?!0123456'].slice(0, VOCABULARY - 27);
  const row = (score: number) => (text: string, i: number) => ({ text, type: 1, score: score - i });
  const rows = [
    ...marks.map((text) => ({ text, type: 3, score: -1000 })),
    ...own.map((text) => ({ text, type: 4, score: -1000 })),
    ...bytes.map((text) => ({ text, type: 6, score: 0 })),
    ...made.map(row(-1)),
    ...letters.map(row(-100)),
  ];
  if (rows.length !== VOCABULARY) throw new Error(`${rows.length} rows`);
  return {
    tokens: rows.map(({ text }) => text),
    scores: rows.map(({ score }) => score),
    types: rows.map(({ type }) => type),
  };
})();

/** Our exporter refuses other values by name. */
export const GEMMA_AS_LLAMA_CPP_HAS_IT = {
  query_pre_attn_scalar: 16,
  rope_local_base_freq: 10_000,
  rope_theta: 1_000_000,
  num_hidden_layers: 6,
  sliding_window_pattern: 6,
};

/** The fixture's layers again until there are as many: Gemma 3 has its first full one in the sixth place. */
export function withLayers(tensors: readonly TensorToWrite[], layers: number): TensorToWrite[] {
  const layer = /(?<=^model\.layers\.)\d+/;
  const there = 1 + Math.max(...tensors.map(({ name }) => Number(layer.exec(name)?.[0] ?? 0)));
  return tensors.flatMap((tensor) => {
    const at = layer.exec(tensor.name);
    if (!at) return [tensor];
    const places = Array.from({ length: layers }, (_, i) => i).filter((i) => i % there === Number(at[0]));
    return places.map((place) => ({ ...tensor, name: tensor.name.replace(layer, String(place)) }));
  });
}
