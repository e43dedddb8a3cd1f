// What a GGUF file's tokenizer is refused for, and small ones of both kinds; real ones are in tests/models.

import { describe, expect, it } from 'vitest';
import { createGgufTokenizer, ggufTokenizerFiles } from './gguf-tokenizer.ts';
import { ggufEndTokens } from './gguf/end-tokens.ts';
import { PRE_TOKENIZERS } from './gguf/pre-tokenizers.ts';
import { tokenizerToGguf } from './gguf/to-metadata.ts';

const VALUES: Readonly<Record<string, unknown>> = {
  'tokenizer.ggml.model': 'gpt2',
  'tokenizer.ggml.pre': 'smollm',
  'tokenizer.ggml.tokens': ['a', 'b', 'ab', '1', '<|end|>', '[PAD5]', 'c', 'Ġ'],
  'tokenizer.ggml.token_type': [1, 1, 1, 1, 3, 5, 1, 1],
  'tokenizer.ggml.merges': ['a b'],
  'tokenizer.ggml.eos_token_id': 4,
  'tokenizer.chat_template': '{{ messages }}',
};
const metadata = (change: Readonly<Record<string, unknown>> = {}): Map<string, { readonly value: unknown }> =>
  new Map(
    Object.entries({ ...VALUES, ...change })
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, { value }]),
  );
const create = (change: Readonly<Record<string, unknown>> = {}): ReturnType<typeof createGgufTokenizer> =>
  createGgufTokenizer({ name: 'test', metadata: metadata(change) });

describe('GGUF tokenizer', () => {
  it('merges, cuts and knows its control tokens', () => {
    const tokenizer = create();
    expect(tokenizer.encode('ab1 ba')).toEqual([2, 3, 7, 1, 0]);
    expect(tokenizer.encode('<|end|>', { control: true })).toEqual([4]);
    expect([...tokenizer.controlTokens]).toEqual([['<|end|>', 4]]);
  });

  it.each(PRE_TOKENIZERS.flatMap(({ names }) => names))('reads the pre-tokenizer %s', (pre) => {
    expect(create({ 'tokenizer.ggml.pre': pre }).encode('ab')).toEqual([2]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    [
      'an unknown pre-tokenizer',
      { 'tokenizer.ggml.pre': 'tekken' },
      /"tekken" is not known here \(known: smollm, gpt-2/,
    ],
    ['no pre-tokenizer', { 'tokenizer.ggml.pre': undefined }, /does not name its pre-tokenizer/],
    ['another kind', { 'tokenizer.ggml.model': 'bert' }, /kind "bert"; read are byte-level BPE \("gpt2"\) and Gemma's/],
    ['no tokens', { 'tokenizer.ggml.tokens': undefined }, /"tokenizer.ggml.tokens" is missing/],
    ['types of other tokens', { 'tokenizer.ggml.token_type': [1] }, /"tokenizer.ggml.token_type" is not what/],
    ['half a merge', { 'tokenizer.ggml.merges': ['a'] }, /merge "a" is not two tokens/],
    [
      'a token twice',
      { 'tokenizer.ggml.tokens': ['a', 'a', 'ab', '1', '<|end|>', 'x', 'y', 'z'] },
      /"a" is there twice/,
    ],
  ])('refuses %s and says what to do', (_what, change, message) => {
    expect(() => create(change)).toThrow(message);
    expect(() => create(change)).toThrow(/Take the model's Hugging Face folder instead/);
  });

  it('becomes files that say the same, and metadata again', () => {
    const files = ggufTokenizerFiles({ name: 'test', metadata: metadata() });
    const json = JSON.parse(files.get('tokenizer.json')!) as unknown;
    const config = JSON.parse(files.get('tokenizer_config.json')!) as Record<string, unknown>;
    expect(config).toMatchObject({ eos_token: '<|end|>', chat_template: '{{ messages }}' });
    const back = tokenizerToGguf({ name: 'test', json, config, vocabSize: 8, ids: { eos_token_id: [4, 0] } });
    for (const [key, value] of Object.entries(VALUES)) expect(back.get(key)?.value, key).toEqual(value);
  });

  const PIECES: readonly (readonly [text: string, type: number, score: number])[] = [
    ['<pad>', 3, -1000],
    ['<eos>', 3, -1000],
    ['<bos>', 3, -1000],
    ['<unk>', 3, -1000],
    ['<end_of_turn>', 3, -1000],
    ['  ', 4, -1000],
    ['   ', 4, -1000],
    ['\n', 4, -1000],
    ['<b>', 4, -1000],
    ['<0xC3>', 6, 0],
    ['<0xA9>', 6, 0],
    ['[PAD11]', 5, -1e6],
    ['\u2581a', 1, 0],
    ['ab', 1, -1],
    ['bc', 1, -2],
    ['abc', 1, -3],
    ['\u2581', 1, -4],
    ['a', 1, -5],
    ['b', 1, -6],
    ['c', 1, -7],
    ['<', 1, -8],
    ['>', 1, -9],
    ['<b', 1, -10],
    ['e', 1, -11],
    ['o', 1, -12],
    ['s', 1, -13],
  ];
  const pieces = (
    change: Readonly<Record<string, unknown>> = {},
    list = PIECES,
  ): Map<string, { readonly value: unknown }> =>
    metadata({
      'tokenizer.ggml.model': 'llama',
      'tokenizer.ggml.pre': 'default',
      'tokenizer.ggml.tokens': list.map(([text]) => text),
      'tokenizer.ggml.token_type': list.map(([, type]) => type),
      'tokenizer.ggml.scores': list.map(([, , score]) => score),
      'tokenizer.ggml.merges': undefined,
      'tokenizer.ggml.bos_token_id': 2,
      'tokenizer.ggml.eos_token_id': 1,
      'tokenizer.ggml.unknown_token_id': 3,
      'tokenizer.ggml.add_space_prefix': false,
      ...change,
    });

  it("of SentencePiece's kind puts together what has the better score, and writes as bytes what it does not know", () => {
    const tokenizer = createGgufTokenizer({ name: 'test', metadata: pieces() });
    const cut = (text: string, control = false): string[] =>
      tokenizer.encode(text, { control }).map((id) => PIECES[id][0]);
    // "ab" before "bc", and " a" before both.
    expect(cut('abc')).toEqual(['abc']);
    expect(cut('abbc')).toEqual(['ab', 'bc']);
    expect(cut(' abc')).toEqual(['\u2581a', 'bc']);
    expect(cut('bé')).toEqual(['b', '<0xC3>', '<0xA9>']);
    // Runs of white space and elements of HTML are tokens in any text, marks only where they are meant.
    expect(cut('a   a\n<b>')).toEqual(['a', '   ', 'a', '\n', '<b>']);
    expect(cut('    ')).toEqual(['   ', '\u2581']);
    expect(cut('<eos>a', true)).toEqual(['<eos>', 'a']);
    expect(cut('<eos>')).not.toContain('<eos>');
    expect(tokenizer.decode([2, ...tokenizer.encode('a   bé'), 4])).toBe('<bos>a   bé<end_of_turn>');
    expect([...tokenizer.controlTokens.keys()].sort()).toEqual(['<bos>', '<end_of_turn>', '<eos>', '<pad>', '<unk>']);
  });

  it("of SentencePiece's kind says at which tokens a text ends: those with a key, and the end of a turn by its name", () => {
    expect(ggufEndTokens(pieces())).toEqual([1, 4]);
    expect(ggufEndTokens(pieces({ 'tokenizer.ggml.eot_token_id': 4, 'tokenizer.ggml.eom_token_id': 8 }))).toEqual([
      1, 4, 8,
    ]);
    expect(ggufEndTokens(metadata())).toEqual([4]);
    expect(ggufEndTokens(metadata({ 'tokenizer.ggml.eos_token_id': undefined }))).toEqual([]);
  });

  it("of SentencePiece's kind becomes files and metadata again that say the same", () => {
    const files = ggufTokenizerFiles({ name: 'test', metadata: pieces() });
    const json = JSON.parse(files.get('tokenizer.json')!) as Record<string, unknown>;
    // Files write a user's runs of spaces as spaces, tokenizer.json as all others.
    expect(json).toMatchObject({ model: { vocab: { '\u2581\u2581': 5, '\u2581\u2581\u2581': 6 } } });
    expect(json['post_processor']).toMatchObject({ type: 'TemplateProcessing', special_tokens: { '<bos>': {} } });
    const config = JSON.parse(files.get('tokenizer_config.json')!) as Record<string, unknown>;
    // llama.cpp begins texts with the token where a file does not say whether.
    expect(config).toMatchObject({ add_bos_token: true, bos_token: '<bos>', eos_token: '<eos>', unk_token: '<unk>' });
    const ids = { bos_token_id: 2, eos_token_id: [1, 4] };
    const back = tokenizerToGguf({ name: 'test', json, config, vocabSize: PIECES.length, ids });
    expect(back.get('tokenizer.ggml.eot_token_id')).toEqual({ type: 'uint32', value: 4 });
    const again = ggufTokenizerFiles({ name: 'test', metadata: back });
    expect(JSON.parse(again.get('tokenizer.json')!)).toEqual(json);
    const without = ggufTokenizerFiles({ name: 'test', metadata: pieces({ 'tokenizer.ggml.add_bos_token': false }) });
    expect(JSON.parse(without.get('tokenizer.json')!)).toMatchObject({ post_processor: null });
  });

  it.each<[string, Readonly<Record<string, unknown>>, readonly (readonly [string, number, number])[], RegExp]>([
    ['an unknown pre-tokenizer', { 'tokenizer.ggml.pre': 'viking' }, PIECES, /"viking" is not known here/],
    ['a space before every text', { 'tokenizer.ggml.add_space_prefix': true }, PIECES, /add_space_prefix/],
    ['a space by default', { 'tokenizer.ggml.add_space_prefix': undefined }, PIECES, /add_space_prefix/],
    [
      'white space that is dropped',
      { 'tokenizer.ggml.remove_extra_whitespaces': true },
      PIECES,
      /remove_extra_whitespaces/,
    ],
    ['no scores', { 'tokenizer.ggml.scores': undefined }, PIECES, /"tokenizer.ggml.scores" is missing/],
    ['scores of other tokens', { 'tokenizer.ggml.scores': [0] }, PIECES, /"tokenizer.ggml.scores" is not what/],
    [
      'no token for what is unknown',
      { 'tokenizer.ggml.unknown_token_id': undefined },
      PIECES,
      /none of its tokens is the one for what is unknown/,
    ],
    [
      'a mark that is said to be text',
      {},
      PIECES.map((piece) => (piece[0] === '<end_of_turn>' ? [piece[0], 1, 0] : piece)),
      /its token "<end_of_turn>" is said to be text/,
    ],
    [
      'an order that is open',
      {},
      PIECES.map((piece) => (piece[0] === 'bc' ? ['bc', 1, -1] : piece)),
      /"ab" and "bc" have one score \(-1\)/,
    ],
    ['a token twice', {}, [...PIECES, ['a', 1, -50]], /"a" is there twice/],
  ])("of SentencePiece's kind is refused for %s", (_what, change, list, message) => {
    const refused = (): unknown => createGgufTokenizer({ name: 'test', metadata: pieces(change, list) });
    expect(refused).toThrow(message);
    expect(refused).toThrow(/Take the model's Hugging Face folder instead/);
  });

  it("becomes SentencePiece's metadata from Gemma's kind, scored by the order of merges", () => {
    const vocab = {
      '<pad>': 0,
      '<bos>': 1,
      '<unk>': 2,
      '\u2581\u2581': 3,
      '<0x0A>': 4,
      a: 5,
      b: 6,
      '\u2581': 7,
      ab: 8,
      '\u2581ab': 9,
    };
    const added = (id: number, content: string, special: boolean) => ({ id, content, special });
    const json = {
      added_tokens: [
        ...[added(0, '<pad>', true), added(1, '<bos>', true), added(2, '<unk>', true)],
        ...[added(3, '\u2581\u2581', false), added(12, '<picture>', true)],
      ],
      normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
      model: {
        ...{ type: 'BPE', byte_fallback: true, unk_token: '<unk>', vocab },
        merges: [['a', 'b'], '\u2581 ab', ['\u2581a', 'b']],
      },
    };
    const given = { name: 'x', json, config: { add_bos_token: null }, vocabSize: 11, ids: { bos_token_id: 1 } };
    const entries = Object.fromEntries([...tokenizerToGguf(given)].map(([key, { value }]) => [key.slice(15), value]));
    expect(entries).toEqual({
      model: 'llama',
      pre: 'default',
      tokens: ['<pad>', '<bos>', '<unk>', '  ', '<0x0A>', 'a', 'b', '\u2581', 'ab', '\u2581ab', '[PAD10]'],
      token_type: [3, 3, 2, 4, 6, 1, 1, 1, 1, 1, 5],
      scores: [...Array<number>(8).fill(-1e6), 0, -1, -1e6],
      unknown_token_id: 2,
      bos_token_id: 1,
      add_bos_token: true,
      add_space_prefix: false,
    });
    expect(() => tokenizerToGguf({ ...given, json: { ...json, normalizer: null } })).toThrow(/neither.*nor Gemma's/);
  });

  it('does not become metadata where its cuts have no name there, or where it has more tokens than the model', () => {
    const json = JSON.parse(ggufTokenizerFiles({ name: 'x', metadata: metadata() }).get('tokenizer.json')!) as object;
    const options = { name: 'x', config: {}, vocabSize: 8, ids: {} };
    expect(() => tokenizerToGguf({ ...options, json: { ...json, pre_tokenizer: { type: 'Whitespace' } } })).toThrow(
      /Whitespace/,
    );
    expect(() => tokenizerToGguf({ ...options, json, vocabSize: 5 })).toThrow(/beyond the 5 rows/);
  });
});
