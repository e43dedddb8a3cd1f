// Gemma's tokenizer.json out of a GGUF file of SentencePiece's kind. Such a file has scores where a tokenizer.json has merges:
// every way to put a token together from two others is one, and those of the better score come first. Files say it of a
// model of any kind; what Gemma has otherwise than others (a space of its own before every text) is refused.

import { z } from 'zod';
import type { TokenizerMetadata } from './metadata-reader.ts';
import { TOKEN_TYPES } from './token-types.ts';

const SPACE = '\u2581';

type Piece = { readonly id: number; readonly text: string; readonly type: number; readonly score: number };

export function sentencePieceJson(metadata: TokenizerMetadata): Record<string, unknown> {
  refuseOtherKinds(metadata);
  const pieces = piecesOf(metadata);
  const vocab = Object.create(null) as Record<string, number>; // no prototype: a token may be called "constructor"
  for (const { text, id } of pieces) {
    if (vocab[text] !== undefined) throw metadata.refusal(`the token ${JSON.stringify(text)} is there twice`);
    vocab[text] = id;
  }
  const textOf = (key: string): string | undefined => {
    const id = metadata.read(`${key}_token_id`, z.number().optional());
    return id === undefined ? undefined : pieces.find((piece) => piece.id === id)?.text;
  };
  const unknown = textOf('unknown') ?? pieces.find(({ type }) => type === TOKEN_TYPES.unknown)?.text;
  if (unknown === undefined) throw metadata.refusal('none of its tokens is the one for what is unknown');
  const bos = textOf('bos');
  // Without the key llama.cpp begins every text so.
  const begins = metadata.read('add_bos_token', z.boolean().default(true)) && bos !== undefined;
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: pieces.filter(isAdded).map(({ id, text, type }) => ({
      id,
      content: text,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: type !== TOKEN_TYPES.userDefined,
    })),
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: SPACE },
    pre_tokenizer: { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
    post_processor: begins ? beginning(bos, vocab[bos]) : null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: SPACE }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
      ],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: unknown,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab,
      merges: mergesOf(pieces, metadata),
    },
  };
}

function refuseOtherKinds(metadata: TokenizerMetadata): void {
  const pre = metadata.read('pre', z.string().default('default'));
  if (pre !== 'default') throw metadata.refusal(`its pre-tokenizer "${pre}" is not known here for SentencePiece`);
  // Without the key llama.cpp puts one there.
  if (metadata.read('add_space_prefix', z.boolean().default(true))) {
    throw metadata.refusal(
      'its texts begin with a space of their own (tokenizer.ggml.add_space_prefix), which is read for no model; of ' +
        "SentencePiece's tokenizers Gemma's are read",
    );
  }
  if (metadata.read('remove_extra_whitespaces', z.boolean().default(false))) {
    throw metadata.refusal('it drops white space (tokenizer.ggml.remove_extra_whitespaces), which is not built');
  }
}

function piecesOf(metadata: TokenizerMetadata): Piece[] {
  const tokens = metadata.read('tokens', z.array(z.string()).min(1));
  const types = metadata.read('token_type', z.array(z.number()).length(tokens.length));
  const scores = metadata.read('scores', z.array(z.number()).length(tokens.length));
  return tokens.flatMap((token, id) => {
    const type = types[id];
    // Rows that fill the embedding up have no text and are no tokens.
    if (type === TOKEN_TYPES.unused) return [];
    const own = type === TOKEN_TYPES.userDefined;
    // Files look for a user's tokens in the text as it is given, where spaces are spaces. Their scores are a matter of who
    // wrote the file: they come before all that was learned.
    return [{ id, type, text: own ? token.replaceAll(' ', SPACE) : token, score: own ? Infinity : scores[id] }];
  });
}

const isAdded = ({ type }: Piece): boolean =>
  type === TOKEN_TYPES.control || type === TOKEN_TYPES.userDefined || type === TOKEN_TYPES.unknown;

/** Control tokens and bytes are no parts of others and are not put together. */
const isText = ({ type }: Piece): boolean => type === TOKEN_TYPES.normal || type === TOKEN_TYPES.userDefined;

type Merge = { readonly pair: readonly [string, string]; readonly score: number; readonly left: number };

/** Best score first, of one score those with the longer left half, as published files have them. */
function mergesOf(pieces: readonly Piece[], metadata: TokenizerMetadata): (readonly [string, string])[] {
  const texts = pieces.filter(isText);
  const known = new Set(texts.map(({ text }) => text));
  const merges: Merge[] = [];
  const madeBy = new Map<number, string>();
  for (const { text, type, score } of texts) {
    const before = merges.length;
    let left = 0;
    let at = 0;
    for (const character of text) {
      if (at > 0) {
        const pair = [text.slice(0, at), text.slice(at)] as const;
        if (known.has(pair[0]) && known.has(pair[1])) merges.push({ pair, score, left });
      }
      at += character.length;
      left++;
    }
    if (type !== TOKEN_TYPES.normal || left < 2) continue;
    if (merges.length === before) {
      // Marks of turns and the like, in files that do not say what they are.
      throw metadata.refusal(
        `its token ${JSON.stringify(text)} is said to be text, and no two others make it: the types of its tokens are wrong`,
      );
    }
    const other = madeBy.get(score);
    if (other !== undefined) {
      const both = `${JSON.stringify(other)} and ${JSON.stringify(text)}`;
      throw metadata.refusal(`its tokens ${both} have one score (${score}), so that their order is open`);
    }
    madeBy.set(score, text);
  }
  // In files the order of one score and one left half is that of the tokens, but for runs of white space: longest first.
  const length = ({ pair }: Merge): number => pair[0].length + pair[1].length;
  merges.sort((a, b) => (a.score === b.score ? b.left - a.left || length(b) - length(a) : b.score - a.score));
  return merges.map(({ pair }) => pair);
}

/** Every text begins with a token. */
function beginning(token: string, id: number): Record<string, unknown> {
  const special = (type: number) => ({ SpecialToken: { id: token, type_id: type } });
  const sequence = (name: string, type: number) => ({ Sequence: { id: name, type_id: type } });
  return {
    type: 'TemplateProcessing',
    single: [special(0), sequence('A', 0)],
    pair: [special(0), sequence('A', 0), special(1), sequence('B', 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}
