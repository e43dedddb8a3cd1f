// A tokenizer out of a GGUF file's metadata: the contents of a tokenizer.json are put together from it, honouring the
// name of the pre-tokenizer, and read like any other. Kinds other than byte-level BPE are refused by name.

import { z } from 'zod';
import { TabwrightError, type Tokenizer } from '../core/index.ts';
import { PRE_TOKENIZERS, type PreTokenizer } from './gguf/pre-tokenizers.ts';
import { createTokenizer } from './tokenizer.ts';

/** `tokenizer.*` keys of a GGUF file. */
export type GgufTokenizerMetadata = ReadonlyMap<string, { readonly value: unknown }>;

export type GgufTokenizerOptions = {
  /** For messages and records. */
  readonly name: string;
  readonly metadata: GgufTokenizerMetadata;
};

/** Numbers of `tokenizer.ggml.token_type` (`enum llama_token_type`). */
export const TOKEN_TYPES = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

export function createGgufTokenizer({ name, metadata }: GgufTokenizerOptions): Tokenizer {
  return createTokenizer({ name, json: ggufTokenizerJson({ name, metadata }) });
}

/** The contents of the tokenizer.json that says the same. */
export function ggufTokenizerJson({ name, metadata }: GgufTokenizerOptions): Record<string, unknown> {
  const read = <T>(key: string, schema: z.ZodType<T>): T => {
    const parsed = schema.safeParse(metadata.get(key)?.value);
    if (parsed.success) return parsed.data;
    throw refuse(name, `"${key}" is ${metadata.has(key) ? 'not what it should be' : 'missing'}`);
  };
  const kind = read('tokenizer.ggml.model', z.string());
  if (kind !== 'gpt2') {
    throw refuse(name, `its tokenizer is of the kind "${kind}", only byte-level BPE ("gpt2") is read from GGUF files`);
  }
  const { preTokenizer, normalizer, ignoreMerges } = preTokenizerOf(name, metadata);
  const tokens = read('tokenizer.ggml.tokens', z.array(z.string()).min(1));
  const types = read('tokenizer.ggml.token_type', z.array(z.number()).length(tokens.length));
  const merges = read('tokenizer.ggml.merges', z.array(z.string()));
  const isAdded = (id: number): boolean =>
    types[id] === TOKEN_TYPES.control || types[id] === TOKEN_TYPES.userDefined || types[id] === TOKEN_TYPES.unknown;
  const added = tokens.flatMap((content, id) =>
    isAdded(id)
      ? [
          {
            id,
            content,
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
            special: types[id] !== TOKEN_TYPES.userDefined,
          },
        ]
      : [],
  );
  const vocab = Object.create(null) as Record<string, number>; // no prototype: a token may be called "constructor"
  for (const [id, token] of tokens.entries()) {
    // Rows that fill the embedding up have no text and are no tokens.
    if (isAdded(id) || types[id] === TOKEN_TYPES.unused) continue;
    if (vocab[token] !== undefined) throw refuse(name, `the token ${JSON.stringify(token)} is there twice`);
    vocab[token] = id;
  }
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer,
    pre_tokenizer: preTokenizer,
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: ignoreMerges,
      vocab,
      merges: merges.map((merge) => splitMerge(name, merge)),
    },
  };
}

/** The files beside the weights of a Hugging Face folder, by name. */
export function ggufTokenizerFiles(options: GgufTokenizerOptions): Map<string, string> {
  const { metadata } = options;
  const tokens = metadata.get('tokenizer.ggml.tokens')?.value as readonly string[];
  const tokenOf = (key: string): Record<string, string> => {
    const id = metadata.get(`tokenizer.ggml.${key}_token_id`)?.value;
    const short = key === 'padding' ? 'pad' : key === 'unknown' ? 'unk' : key;
    return typeof id === 'number' && tokens[id] !== undefined ? { [`${short}_token`]: tokens[id] } : {};
  };
  const template = metadata.get('tokenizer.chat_template')?.value;
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    clean_up_tokenization_spaces: false,
    add_bos_token: metadata.get('tokenizer.ggml.add_bos_token')?.value ?? false,
    ...tokenOf('bos'),
    ...tokenOf('eos'),
    ...tokenOf('padding'),
    ...tokenOf('unknown'),
    ...(typeof template === 'string' ? { chat_template: template } : {}),
  };
  return new Map([
    ['tokenizer.json', JSON.stringify(ggufTokenizerJson(options))],
    ['tokenizer_config.json', `${JSON.stringify(config, null, 2)}\n`],
  ]);
}

function preTokenizerOf(name: string, metadata: GgufTokenizerMetadata): PreTokenizer {
  const pre = metadata.get('tokenizer.ggml.pre')?.value;
  const known = PRE_TOKENIZERS.flatMap(({ names }) => names).join(', ');
  if (typeof pre !== 'string') {
    throw refuse(name, `it does not name its pre-tokenizer (tokenizer.ggml.pre), without which ids would be guessed`);
  }
  const found = PRE_TOKENIZERS.find(({ names }) => names.includes(pre));
  if (found) return found;
  throw refuse(name, `its pre-tokenizer "${pre}" is not known here (known: ${known})`);
}

/** "left right": neither half holds a space, since byte-level tokens write it otherwise. */
function splitMerge(name: string, merge: string): readonly [string, string] {
  const at = merge.indexOf(' ', 1);
  if (at < 1 || at === merge.length - 1) throw refuse(name, `the merge ${JSON.stringify(merge)} is not two tokens`);
  return [merge.slice(0, at), merge.slice(at + 1)];
}

function refuse(name: string, why: string): TabwrightError {
  const message = `${name}: no tokenizer can be made from this GGUF file: ${why}. Put the model's tokenizer.json beside it.`;
  return new TabwrightError('config', message, { code: 'gguf-tokenizer-not-supported', details: { tokenizer: name } });
}
