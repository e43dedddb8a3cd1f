// What a GGUF file's tokenizer is refused for; whether ids are right is tested on a real one in tests/models.

import { describe, expect, it } from 'vitest';
import { createGgufTokenizer, ggufTokenizerFiles } from './gguf-tokenizer.ts';
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
    ['a sentencepiece tokenizer', { 'tokenizer.ggml.model': 'llama' }, /kind "llama"/],
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
    expect(() => create(change)).toThrow(/Put the model's tokenizer.json beside it/);
  });

  it('becomes files that say the same, and metadata again', () => {
    const files = ggufTokenizerFiles({ name: 'test', metadata: metadata() });
    const json = JSON.parse(files.get('tokenizer.json')!) as unknown;
    const config = JSON.parse(files.get('tokenizer_config.json')!) as Record<string, unknown>;
    expect(config).toMatchObject({ eos_token: '<|end|>', chat_template: '{{ messages }}' });
    const back = tokenizerToGguf({ name: 'test', json, config, vocabSize: 8, ids: { eos_token_id: [4, 0] } });
    for (const [key, value] of Object.entries(VALUES)) expect(back.get(key)?.value, key).toEqual(value);
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
