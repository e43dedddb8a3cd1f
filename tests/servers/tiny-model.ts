// A tiny model with random weights in the embedded engine, a tokenizer of bytes, and Qwen3's chat format: everything of a
// real model but what it has learned.

import { EmbeddedBackend, exportAdapter, initWeights, type ModelConfig } from '../../src/engine/index.ts';
import type { ServedModel } from '../../src/server/index.ts';
import { chatFormat, createChatRenderer, createTokenizer } from '../../src/tokens/index.ts';

const CONTROL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '<think>', '</think>', '<tool_call>', '</tool_call>'];
const MORE = ['<tool_response>', '</tool_response>'];

/** The characters that stand for bytes in byte-level vocabularies, by byte. */
function byteCharacters(): string[] {
  const shown = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(shown(byte) ? byte : next++));
}

export const tokenizer = createTokenizer({
  name: 'bytes',
  json: {
    version: '1.0',
    added_tokens: [...CONTROL, ...MORE].map((content, i) => ({
      id: 256 + i,
      content,
      special: i < 3,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(byteCharacters().map((character, byte) => [character, byte])),
      merges: [],
    },
  },
});

export const chat = createChatRenderer({ format: chatFormat('qwen3'), tokenizer });

export const END = tokenizer.controlTokens.get('<|im_end|>')!;

const CONFIG: ModelConfig = {
  vocabSize: 256 + CONTROL.length + MORE.length,
  hiddenSize: 32,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 8,
  intermediateSize: 48,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tieEmbeddings: false,
  taps: 1,
  maxPositions: 1024,
};

export function tinyModel(
  seed = 1,
  change: Partial<ModelConfig> = {},
): ServedModel & { readonly backend: EmbeddedBackend } {
  const config = { ...CONFIG, ...change };
  return {
    names: ['tiny', 'Qwen/Qwen3-8B'],
    backend: new EmbeddedBackend({ modelName: 'tiny', config, weights: initWeights(config, seed) }),
    architecture: 'qwen3',
    endTokens: [END],
    tokenizer,
    chat,
    exportAdapter: (from, path, baseModel) => exportAdapter({ from, path, baseModel }),
  };
}
