// A tokenizer out of a GGUF file's metadata: the contents of a tokenizer.json are put together from it, honouring the
// name of the pre-tokenizer, and read like any other. Kinds other than byte-level BPE and Gemma's are refused by name.

import { z } from 'zod';
import type { Tokenizer } from '../core/index.ts';
import { sentencePieceJson } from './gguf/from-sentencepiece.ts';
import { TokenizerMetadata, type GgufTokenizerMetadata } from './gguf/metadata-reader.ts';
import { PRE_TOKENIZERS, type PreTokenizer } from './gguf/pre-tokenizers.ts';
import { TOKEN_TYPES } from './gguf/token-types.ts';
import { createTokenizer } from './tokenizer.ts';

export type { GgufTokenizerMetadata };

export type GgufTokenizerOptions = {
  /** For messages and records. */
  readonly name: string;
  readonly metadata: GgufTokenizerMetadata;
};

export function createGgufTokenizer({ name, metadata }: GgufTokenizerOptions): Tokenizer {
  return createTokenizer({ name, json: ggufTokenizerJson({ name, metadata }) });
}

/** The contents of the tokenizer.json that says the same. */
export function ggufTokenizerJson({ name, metadata: entries }: GgufTokenizerOptions): Record<string, unknown> {
  const metadata = new TokenizerMetadata(name, entries);
  const kind = metadata.read('model', z.string());
  if (kind === 'gpt2') return byteLevelJson(metadata);
  if (kind === 'llama') return sentencePieceJson(metadata);
  throw metadata.refusal(
    `its tokenizer is of the kind "${kind}"; read are byte-level BPE ("gpt2") and Gemma's SentencePiece ("llama")`,
  );
}

function byteLevelJson(metadata: TokenizerMetadata): Record<string, unknown> {
  const { preTokenizer, normalizer, ignoreMerges } = preTokenizerOf(metadata);
  const tokens = metadata.read('tokens', z.array(z.string()).min(1));
  const types = metadata.read('token_type', z.array(z.number()).length(tokens.length));
  const merges = metadata.read('merges', z.array(z.string()));
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
    if (vocab[token] !== undefined) throw metadata.refusal(`the token ${JSON.stringify(token)} is there twice`);
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
      merges: merges.map((merge) => splitMerge(metadata, merge)),
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
    // What llama.cpp takes where a file does not say it.
    add_bos_token:
      metadata.get('tokenizer.ggml.add_bos_token')?.value ?? metadata.get('tokenizer.ggml.model')?.value === 'llama',
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

function preTokenizerOf(metadata: TokenizerMetadata): PreTokenizer {
  const pre = metadata.read('pre', z.string().optional());
  const known = PRE_TOKENIZERS.flatMap(({ names }) => names).join(', ');
  if (pre === undefined) {
    throw metadata.refusal(
      'it does not name its pre-tokenizer (tokenizer.ggml.pre), without which ids would be guessed',
    );
  }
  const found = PRE_TOKENIZERS.find(({ names }) => names.includes(pre));
  if (found) return found;
  throw metadata.refusal(`its pre-tokenizer "${pre}" is not known here (known: ${known})`);
}

/** "left right": neither half holds a space, since byte-level tokens write it otherwise. */
function splitMerge(metadata: TokenizerMetadata, merge: string): readonly [string, string] {
  const at = merge.indexOf(' ', 1);
  if (at < 1 || at === merge.length - 1) throw metadata.refusal(`the merge ${JSON.stringify(merge)} is not two tokens`);
  return [merge.slice(0, at), merge.slice(at + 1)];
}
