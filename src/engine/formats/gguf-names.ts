// How llama.cpp and Hugging Face call and lay out the same tensors of the architectures that are read here. Names and
// row orders only; no files.

import type { NamedTensor } from '../safetensors.ts';

/** Architectures as GGUF names them, with Hugging Face's `model_type`. */
export const GGUF_ARCHITECTURES = {
  llama: 'llama',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
  gemma3: 'gemma3_text',
} as const;
export type GgufArchitecture = keyof typeof GGUF_ARCHITECTURES;

const GLOBAL_NAMES: readonly (readonly [gguf: string, huggingFace: string])[] = [
  ['token_embd', 'model.embed_tokens'],
  ['output_norm', 'model.norm'],
  ['output', 'lm_head'],
];

const BLOCK_NAMES: readonly (readonly [gguf: string, huggingFace: string])[] = [
  ['attn_norm', 'input_layernorm'],
  ['attn_q', 'self_attn.q_proj'],
  ['attn_k', 'self_attn.k_proj'],
  ['attn_v', 'self_attn.v_proj'],
  ['attn_output', 'self_attn.o_proj'],
  ['attn_q_norm', 'self_attn.q_norm'],
  ['attn_k_norm', 'self_attn.k_norm'],
  ['ffn_gate', 'mlp.gate_proj'],
  ['ffn_up', 'mlp.up_proj'],
  ['ffn_down', 'mlp.down_proj'],
];

/** Gemma 3 has two norms around each part; the others call the one before the MLP "post attention". */
const NORM_NAMES: readonly (readonly [gguf: string, huggingFace: string])[] = [
  ['ffn_norm', 'post_attention_layernorm'],
];
const GEMMA_NORM_NAMES: readonly (readonly [gguf: string, huggingFace: string])[] = [
  ['post_attention_norm', 'post_attention_layernorm'],
  ['ffn_norm', 'pre_feedforward_layernorm'],
  ['post_ffw_norm', 'post_feedforward_layernorm'],
];

const blockNames = (architecture: GgufArchitecture): readonly (readonly [string, string])[] => [
  ...BLOCK_NAMES,
  ...(architecture === 'gemma3' ? GEMMA_NORM_NAMES : NORM_NAMES),
];

/** Hugging Face's name of a tensor in a GGUF file; undefined for one that this architecture does not have. */
export function huggingFaceName(architecture: GgufArchitecture, name: string): string | undefined {
  const match = /^(?:blk\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name);
  if (!match) return undefined;
  const [, block, stem, kind] = match;
  const names = block === undefined ? GLOBAL_NAMES : blockNames(architecture);
  const found = names.find(([gguf]) => gguf === stem);
  if (!found) return undefined;
  return `${block === undefined ? '' : `model.layers.${block}.`}${found[1]}.${kind}`;
}

/** The other way round. */
export function ggufName(architecture: GgufArchitecture, name: string): string | undefined {
  const match = /^(?:model\.layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name);
  if (!match) return undefined;
  const [, block, stem, kind] = match;
  const names = block === undefined ? GLOBAL_NAMES : blockNames(architecture);
  const found = names.find(([, huggingFace]) => huggingFace === stem);
  if (!found) return undefined;
  return `${block === undefined ? '' : `blk.${block}.`}${found[0]}.${kind}`;
}

export type HeadCounts = { readonly heads: number; readonly kvHeads: number };

/**
 * Rows of llama's q and k between the two layouts of rotary pairs: files of llama.cpp have the members of a pair side
 * by side, Hugging Face in the two halves of a head. Everything else comes back as it is.
 */
export function reorderRotaryRows(
  { name, shape, data }: NamedTensor,
  to: 'halves' | 'pairs',
  { heads, kvHeads }: HeadCounts,
): Float32Array {
  const matrix = /\.self_attn\.([qk])_proj\.(?:weight|bias)$/.exec(name)?.[1];
  if (matrix === undefined) return data;
  const count = matrix === 'q' ? heads : kvHeads;
  const rows = shape[0];
  const width = data.length / rows;
  const half = rows / count / 2;
  const reordered = new Float32Array(data.length);
  for (let head = 0; head < count; head++) {
    for (let pair = 0; pair < half; pair++) {
      for (let member = 0; member < 2; member++) {
        const inHalves = head * 2 * half + member * half + pair;
        const inPairs = head * 2 * half + 2 * pair + member;
        const [source, target] = to === 'halves' ? [inPairs, inHalves] : [inHalves, inPairs];
        reordered.set(data.subarray(source * width, (source + 1) * width), target * width);
      }
    }
  }
  return reordered;
}

/** Gemma multiplies by 1 + w; files of llama.cpp hold the sum. */
export function isShiftedNorm(architecture: GgufArchitecture, huggingFace: string): boolean {
  return architecture === 'gemma3' && /norm\.weight$/.test(huggingFace);
}
