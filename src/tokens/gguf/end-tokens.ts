// The tokens that a GGUF file says a text ends at. Folders have a list of them, files a key each; Gemma's have no key for
// the end of a turn, which llama.cpp finds by its name.

import type { GgufTokenizerMetadata } from './metadata-reader.ts';
import { TOKEN_TYPES } from './token-types.ts';

/** Gemma's, by which it ends every reply. */
export const END_OF_TURN = '<end_of_turn>';

const KEYS = ['eos', 'eot', 'eom'] as const;

/** Ids, the end of text first, none twice. */
export function ggufEndTokens(metadata: GgufTokenizerMetadata): readonly number[] {
  const value = (key: string): unknown => metadata.get(`tokenizer.ggml.${key}`)?.value;
  const named = KEYS.map((key) => value(`${key}_token_id`)).filter((id) => typeof id === 'number');
  const tokens = value('tokens');
  const types = value('token_type');
  const turn = Array.isArray(tokens) ? tokens.indexOf(END_OF_TURN) : -1;
  const isMark =
    Array.isArray(types) && (types[turn] === TOKEN_TYPES.control || types[turn] === TOKEN_TYPES.userDefined);
  return [...new Set([...named, ...(isMark ? [turn] : [])])];
}
