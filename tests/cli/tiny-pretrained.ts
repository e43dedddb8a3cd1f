// A folder as Hugging Face has them: Qwen3's layout with random weights, and a tokenizer of bytes with Qwen3's control
// tokens. Everything of a small model but what it has learned.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { initWeights, parseHuggingFaceConfig, writeMergedFolder } from '../../src/engine/index.ts';

const CONTROL = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'];
const MARKS = ['<think>', '</think>', '<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>'];
const VOCABULARY = 256 + CONTROL.length + MARKS.length;

const CONFIG = {
  architectures: ['Qwen3ForCausalLM'],
  model_type: 'qwen3',
  vocab_size: VOCABULARY,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  max_position_embeddings: 8192,
  hidden_act: 'silu',
  tie_word_embeddings: false,
  attention_bias: false,
  eos_token_id: 258,
};

/** The characters that stand for bytes in byte-level vocabularies. */
function byteVocabulary(): Record<string, number> {
  const shown = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  return Object.fromEntries(
    Array.from({ length: 256 }, (_, byte) => [String.fromCodePoint(shown(byte) ? byte : next++), byte]),
  );
}

function tokenizerJson(): string {
  return JSON.stringify({
    version: '1.0',
    added_tokens: [...CONTROL, ...MARKS].map((content, i) => ({
      id: 256 + i,
      content,
      special: i < CONTROL.length,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: 'BPE', vocab: byteVocabulary(), merges: [] },
  });
}

/** Writes the model and gives its folder. What it is called says how it speaks. */
export async function writeTinyPretrained(parent: string, name = 'Qwen3-0.6B', seed = 1): Promise<string> {
  const path = join(parent, name);
  const { config } = parseHuggingFaceConfig(CONFIG, { origin: name });
  await writeMergedFolder({
    path,
    config: CONFIG,
    tensors: initWeights(config, seed)
      .tensors()
      .map(({ name: tensor, shape, data }) => ({ name: tensor, shape, read: () => Promise.resolve(data) })),
    texts: new Map([['tokenizer.json', tokenizerJson()]]),
  });
  return path;
}

/** A folder with the tokenizer alone. */
export async function writeTinyTokenizer(parent: string, name: string): Promise<string> {
  const path = join(parent, name);
  await mkdir(path);
  await writeFile(join(path, 'tokenizer.json'), tokenizerJson());
  return path;
}
