// The other way round: the `tokenizer.*` keys of a GGUF file from a tokenizer.json, so that llama.cpp cuts text as the
// model's own tokenizer does. A pre-tokenizer that has no name in such files is refused.

import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import { END_OF_TURN } from './end-tokens.ts';
import { PRE_TOKENIZERS } from './pre-tokenizers.ts';
import { sentencePieceVocabulary, type SentencePieceVocabulary } from './sentencepiece.ts';
import { TOKEN_TYPES } from './token-types.ts';

export type GgufTokenizerEntry =
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'uint32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'array'; readonly element: 'string'; readonly value: readonly string[] }
  | { readonly type: 'array'; readonly element: 'int32' | 'float32'; readonly value: readonly number[] };

export type ToMetadataOptions = {
  /** For messages. */
  readonly name: string;
  /** Parsed tokenizer.json and tokenizer_config.json. */
  readonly json: unknown;
  readonly config: unknown;
  /** Rows of the embedding; those without a token are filled up. */
  readonly vocabSize: number;
  /** Ids by Hugging Face's keys (`bos_token_id`, `eos_token_id`, `pad_token_id`), e.g. of the model's config. */
  readonly ids: Readonly<Record<string, unknown>>;
  /** Default: `chat_template` of the config, if it is a text. */
  readonly chatTemplate?: string;
};

const jsonSchema = z.looseObject({
  added_tokens: z.array(z.looseObject({ id: z.number(), content: z.string(), special: z.boolean() })).default([]),
  pre_tokenizer: z.unknown(),
  model: z.looseObject({
    type: z.string(),
    vocab: z.record(z.string(), z.number()),
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
  }),
});

const configSchema = z.looseObject({
  add_bos_token: z.boolean().nullish(),
  chat_template: z.unknown().optional(),
});

export function tokenizerToGguf(options: ToMetadataOptions): Map<string, GgufTokenizerEntry> {
  const pieces = sentencePieceVocabulary(options.json, options.vocabSize);
  const own = pieces === undefined ? byteLevelEntries(options) : sentencePieceEntries(pieces);
  return new Map([...own, ...sharedEntries(options)]);
}

function sentencePieceEntries({
  tokens,
  types,
  scores,
  unknown,
}: SentencePieceVocabulary): readonly (readonly [string, GgufTokenizerEntry])[] {
  const turn = tokens.indexOf(END_OF_TURN);
  const ends: [string, GgufTokenizerEntry][] =
    types[turn] === TOKEN_TYPES.control ? [['tokenizer.ggml.eot_token_id', { type: 'uint32', value: turn }]] : [];
  return [
    ['tokenizer.ggml.model', { type: 'string', value: 'llama' }],
    ['tokenizer.ggml.pre', { type: 'string', value: 'default' }],
    ['tokenizer.ggml.tokens', { type: 'array', element: 'string', value: tokens }],
    ['tokenizer.ggml.scores', { type: 'array', element: 'float32', value: scores }],
    ['tokenizer.ggml.token_type', { type: 'array', element: 'int32', value: types }],
    ['tokenizer.ggml.unknown_token_id', { type: 'uint32', value: unknown }],
    ...ends,
    // Every text begins so, as the authors' own tokenizer has it.
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: true }],
    ['tokenizer.ggml.add_space_prefix', { type: 'bool', value: false }],
  ];
}

function byteLevelEntries(options: ToMetadataOptions): readonly (readonly [string, GgufTokenizerEntry])[] {
  const { name, vocabSize } = options;
  const parsed = jsonSchema.safeParse(options.json);
  if (!parsed.success || parsed.data.model.type !== 'BPE') {
    throw refuse(name, "its tokenizer.json is neither a byte-level BPE with merges nor Gemma's");
  }
  const { model, added_tokens: added, pre_tokenizer: preTokenizer } = parsed.data;
  const tokens: string[] = Array.from({ length: vocabSize }, (_, id) => `[PAD${id}]`);
  const types: number[] = Array.from({ length: vocabSize }, () => TOKEN_TYPES.unused);
  const set = (id: number, text: string, type: number): void => {
    if (id >= vocabSize) throw refuse(name, `token ${id} lies beyond the ${vocabSize} rows of the embedding`);
    tokens[id] = text;
    types[id] = type;
  };
  for (const [text, id] of Object.entries(model.vocab)) set(id, text, TOKEN_TYPES.normal);
  for (const { id, content, special } of added)
    set(id, content, special ? TOKEN_TYPES.control : TOKEN_TYPES.userDefined);
  return [
    ['tokenizer.ggml.model', { type: 'string', value: 'gpt2' }],
    ['tokenizer.ggml.pre', { type: 'string', value: preTokenizerName(name, preTokenizer) }],
    ['tokenizer.ggml.tokens', { type: 'array', element: 'string', value: tokens }],
    ['tokenizer.ggml.token_type', { type: 'array', element: 'int32', value: types }],
    ['tokenizer.ggml.merges', { type: 'array', element: 'string', value: model.merges.map(joinMerge) }],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: configOf(options).add_bos_token ?? false }],
  ];
}

function configOf({ config }: ToMetadataOptions): z.output<typeof configSchema> {
  return configSchema.parse(config ?? {});
}

/** What files say of every tokenizer: which tokens begin and end a text, and the chat template. */
function sharedEntries(options: ToMetadataOptions): ReadonlyMap<string, GgufTokenizerEntry> {
  const { ids } = options;
  const template = options.chatTemplate ?? configOf(options).chat_template;
  const entries = new Map<string, GgufTokenizerEntry>();
  for (const [key, own] of [
    ['bos_token_id', 'bos_token_id'],
    ['eos_token_id', 'eos_token_id'],
    ['pad_token_id', 'padding_token_id'],
  ] as const) {
    const value = ids[key];
    // A model may end at several tokens; files have room for one.
    const id: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof id === 'number') entries.set(`tokenizer.ggml.${own}`, { type: 'uint32', value: id });
  }
  if (typeof template === 'string') entries.set('tokenizer.chat_template', { type: 'string', value: template });
  return entries;
}

const joinMerge = (merge: string | readonly [string, string]): string =>
  typeof merge === 'string' ? merge : merge.join(' ');

function preTokenizerName(name: string, preTokenizer: unknown): string {
  const wanted = essence(preTokenizer);
  const found = PRE_TOKENIZERS.find((known) => essence(known.preTokenizer) === wanted);
  if (found) return found.names[0];
  throw refuse(name, `its pre-tokenizer has no name that is known here: ${wanted.slice(0, 200)}`);
}

/** What decides about the cuts, whatever else a writer puts beside it. */
function essence(preTokenizer: unknown): string {
  const step = z.looseObject({ type: z.string() }).safeParse(preTokenizer);
  if (!step.success) return 'none';
  const { type, ...rest } = step.data;
  if (type === 'Sequence') return (rest.pretokenizers as unknown[]).map(essence).join(' + ');
  if (type === 'ByteLevel') return `ByteLevel ${rest.add_prefix_space === true} ${rest.use_regex !== false}`;
  if (type === 'Digits') return `Digits ${rest.individual_digits === true}`;
  if (type === 'Split') return `Split ${JSON.stringify(rest.pattern)} ${String(rest.behavior)} ${rest.invert === true}`;
  return JSON.stringify(step.data);
}

function refuse(name: string, why: string): TabwrightError {
  return new TabwrightError('config', `${name} cannot become a GGUF file: ${why}.`, {
    code: 'tokenizer-not-exportable',
    details: { tokenizer: name },
  });
}
