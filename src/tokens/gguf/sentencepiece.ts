// The `tokenizer.*` keys of Gemma's tokenizer.json: SentencePiece's BPE, which llama.cpp runs by the score of the token that
// two pieces make, where tokenizer.json has the order of merges. Tokens are scored by their first merge, so that both take
// the same pair first.

import { z } from 'zod';
import { TOKEN_TYPES } from './token-types.ts';

const jsonSchema = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.number(), content: z.string(), special: z.boolean() })).default([]),
  normalizer: z.looseObject({
    type: z.literal('Replace'),
    pattern: z.looseObject({ String: z.literal(' ') }),
    content: z.literal('\u2581'),
  }),
  model: z.looseObject({
    type: z.literal('BPE'),
    byte_fallback: z.literal(true),
    unk_token: z.string(),
    vocab: z.record(z.string(), z.number()),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
  }),
});

/** Of a token that no merge makes: it is there from the start or never. */
const LEAST = -1e6;

export type SentencePieceVocabulary = {
  readonly tokens: readonly string[];
  readonly types: readonly number[];
  readonly scores: readonly number[];
  readonly unknown: number;
};

/** Undefined where the tokenizer is of another kind: spaces are written as U+2581 before all else, bytes are a last resort. */
export function sentencePieceVocabulary(json: unknown, rows: number): SentencePieceVocabulary | undefined {
  const parsed = jsonSchema.safeParse(json);
  if (!parsed.success) return undefined;
  const { model, added_tokens: added } = parsed.data;
  const tokens = Array.from({ length: rows }, (_, id) => `[PAD${id}]`);
  const types = Array.from<number>({ length: rows }).fill(TOKEN_TYPES.unused);
  const scores = Array.from<number>({ length: rows }).fill(LEAST);
  const set = (id: number, text: string, type: number): void => {
    // Gemma 3 names a token for pictures, which models of text have no row for.
    if (id >= rows) return;
    tokens[id] = text;
    types[id] = type;
  };
  for (const [text, id] of Object.entries(model.vocab)) {
    set(id, text, /^<0x[0-9A-F]{2}>$/.test(text) ? TOKEN_TYPES.byte : TOKEN_TYPES.normal);
  }
  for (const { id, content, special } of added) {
    // Those of a user are looked for in the text as it is given, where spaces are spaces.
    if (special) set(id, content, TOKEN_TYPES.control);
    else set(id, content.replaceAll('\u2581', ' '), TOKEN_TYPES.userDefined);
  }
  const unknown = model.vocab[model.unk_token] ?? 0;
  set(unknown, model.unk_token, TOKEN_TYPES.unknown);
  model.merges.forEach((merge, order) => {
    const made = model.vocab[typeof merge === 'string' ? merge.replace(' ', '') : merge.join('')];
    if (made !== undefined && made < rows && scores[made] === LEAST) scores[made] = 0 - order;
  });
  return { tokens, types, scores, unknown };
}
