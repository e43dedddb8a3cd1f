// Gemma 3's published tokenizer in GGUF files, against the tokenizer.json that it came from: in llama.cpp, and read back here,
// from files of ours and from the metadata that llama.cpp's converter writes.

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, CACHE, hasLlamaCpp } from '../../conformance/models/places.ts';
import { exportGguf, mergedModel, openModelFolder } from '../../src/engine/index.ts';
import type { Tokenizer } from '../../src/core/index.ts';
import {
  createGgufTokenizer,
  createTokenizer,
  ggufTokenizerJson,
  loadTokenizer,
  tokenizerToGguf,
  type GgufTokenizerMetadata,
} from '../../src/tokens/index.ts';
import { GEMMA_AS_LLAMA_CPP_HAS_IT, withLayers } from './tiny-gguf.ts';
import { variedTexts } from './texts.ts';

/** Built by conformance/renderers/sources.py. */
const GEMMA = join(CACHE, '..', 'tokenizers', 'gemma3');
const ROWS = 262_144;

const hasGemma = existsSync(join(GEMMA, 'tokenizer.json'));
const IDS = { bos_token_id: 2, eos_token_id: [1, 106], pad_token_id: 0 };

it.skipIf(!hasLlamaCpp || !hasGemma)(
  "llama.cpp cuts 240 varied texts as Gemma's own tokenizer does",
  { timeout: 600_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tabwright-gemma-'));
    try {
      const fixture = await openModelFolder(
        fileURLToPath(new URL('../../src/engine/fixtures/gemma3', import.meta.url)),
      );
      const config = {
        ...(fixture.config as Record<string, unknown>),
        ...GEMMA_AS_LLAMA_CPP_HAS_IT,
        ...{ vocab_size: ROWS, ...IDS },
      };
      const json = JSON.parse(await readFile(join(GEMMA, 'tokenizer.json'), 'utf8')) as unknown;
      const tokenizer = tokenizerToGguf({ name: 'gemma', json, config: {}, vocabSize: ROWS, ids: config });
      expect(tokenizer.get('tokenizer.ggml.eos_token_id')).toEqual({ type: 'uint32', value: 1 });
      const path = join(folder, 'gemma.gguf');
      // Only the vocabulary is opened there: the rows of the fixture's embedding do not matter.
      const tensors = withLayers(mergedModel({ source: fixture }).tensors, 6);
      await exportGguf({ path, type: 'F16', config, tensors, tokenizer, name: 'gemma' });
      await fixture.close();

      const texts = variedTexts(240);
      const theirs = await ask<number[][]>('llama-tokens.mjs', { args: [path], input: texts });
      const own = await loadTokenizer(GEMMA);
      const wrong = texts.flatMap((text, i) => {
        const ours = own.encode(text);
        return ours.join() === theirs[i].join() ? [] : [{ text, ours, theirs: theirs[i] }];
      });
      expect(wrong).toEqual([]);
      expect(theirs.reduce((sum, ids) => sum + ids.length, 0)).toBeGreaterThan(4_000);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);

type Json = {
  readonly added_tokens: readonly { readonly id: number; readonly content: string; readonly special: boolean }[];
  readonly model: { readonly vocab: Readonly<Record<string, number>>; readonly merges: readonly [string, string][] };
};

describe.skipIf(!hasGemma)('the tokenizer of a file', () => {
  let published: Json;
  let own: Tokenizer;
  const files = new Map<string, GgufTokenizerMetadata>();

  beforeAll(async () => {
    published = JSON.parse(await readFile(join(GEMMA, 'tokenizer.json'), 'utf8')) as Json;
    own = createTokenizer({ name: 'gemma', json: published });
    const written = tokenizerToGguf({ name: 'gemma', json: published, config: {}, vocabSize: ROWS, ids: IDS });
    files.set('of ours', written);
    files.set("of llama.cpp's converter", asConverted(written, published));
  }, 120_000);

  it.each(['of ours', "of llama.cpp's converter"])('%s is the published one', { timeout: 120_000 }, (name) => {
    const metadata = files.get(name)!;
    const { added_tokens: added, model, ...rest } = ggufTokenizerJson({ name, metadata }) as Json;
    const { added_tokens: publishedAdded, model: publishedModel, ...publishedRest } = published;
    expect(rest).toEqual(publishedRest);
    // One token is of pictures and has no row in a model of text.
    const inFile = publishedAdded.filter(({ id }) => id < ROWS).map(({ id, content }) => `${id} ${content}`);
    expect(added.map(({ id, content }) => `${id} ${content}`)).toEqual(inFile);
    const { merges, vocab, ...settings } = model;
    const { merges: publishedMerges, vocab: publishedVocab, ...publishedSettings } = publishedModel;
    expect(settings).toEqual(publishedSettings);
    const ids = (of: Readonly<Record<string, number>>): string =>
      Object.entries(of)
        .sort(([, a], [, b]) => a - b)
        .join('\n');
    expect(ids(vocab) === ids(publishedVocab)).toBe(true);
    // The same merges in the same order, but that runs of white space come before all else: no other merge has a part of both.
    const isRun = ([left, right]: readonly [string, string]): boolean =>
      /^(?:\n+|\t+|\u2581\u2581+)$/.test(left + right);
    const lines = (of: readonly (readonly [string, string])[]): string => of.map((pair) => pair.join(' ')).join('\n');
    for (const kind of [isRun, (pair: readonly [string, string]) => !isRun(pair)]) {
      expect(lines(merges.filter(kind)) === lines(publishedMerges.filter(kind))).toBe(true);
    }
    expect(merges.slice(0, 1_000).every(isRun)).toBe(true);
  });

  it.each(['of ours', "of llama.cpp's converter"])(
    '%s cuts varied texts as the published one does, and gives them back',
    { timeout: 120_000 },
    (name) => {
      const tokenizer = createGgufTokenizer({ name, metadata: files.get(name)! });
      expect(tokenizer.vocabSize).toBe(ROWS);
      const controls = [...own.controlTokens].filter(([, id]) => id < ROWS);
      expect([...tokenizer.controlTokens].sort()).toEqual(controls.sort());
      const texts = [...variedTexts(240), ...WHITE_SPACE, ...MARKS];
      const wrong = texts.flatMap((text) =>
        [false, true].flatMap((control) => {
          const [ours, theirs] = [tokenizer, own].map((each) => each.encode(text, { control }));
          const same = ours.join() === theirs.join() && tokenizer.decode(ours) === own.decode(theirs);
          return same ? [] : [{ text, control, ours, theirs }];
        }),
      );
      expect(wrong).toEqual([]);
      // The turn's marks are tokens where they are meant, and words where they are content.
      expect(tokenizer.encode(MARKS[0], { control: true })[0]).toBe(2);
      expect(tokenizer.encode(MARKS[0])).not.toContain(105);
    },
  );
});

const WHITE_SPACE = [1, 2, 3, 5, 16, 30, 31, 32, 33, 40, 62, 63, 70].flatMap((count) =>
  ['\n', '\t', ' ', '\u2581'].flatMap((character) => {
    const run = character.repeat(count);
    return [run, `a${run}b`, `${run} \n${run}\t`];
  }),
);

const MARKS = [
  '<bos><start_of_turn>user\nWhat is 2 + 2?<end_of_turn>\n<start_of_turn>model\n4<end_of_turn>\n',
  '<table><tr><td>1</td>  <th>two</th></tr></table><unused12><unused4890> <mask>[multimodal]<eos><pad><unk>',
  '<h1>\n\n\t<blockquote>x</blockquote></h1></iframe><footer> </ footer>',
  '<0x0A><0xFF> \u0001\u0002\ud7ff\ue000 \u{10ffff}',
];

/** As llama.cpp's converter has it: learned tokens scored by their place, the others -1000; unused marks are control tokens. */
function asConverted(written: GgufTokenizerMetadata, { added_tokens: added }: Json): GgufTokenizerMetadata {
  const list = <T>(key: string): T[] => [...(written.get(`tokenizer.ggml.${key}`)!.value as readonly T[])];
  const tokens = list<string>('tokens');
  const types = list<number>('token_type');
  const addedIds = new Set(added.map(({ id }) => id));
  let learned = 0;
  const scores = tokens.map((_, id) => (addedIds.has(id) ? -1000 : types[id] === 1 ? 0 - learned++ : 0));
  for (const [id, token] of tokens.entries()) if (/^(?:<unused\d+>|<mask>|<unk>)$/.test(token)) types[id] = 3;
  const converted = new Map(written);
  converted.set('tokenizer.ggml.scores', { value: scores });
  converted.set('tokenizer.ggml.token_type', { value: types });
  converted.delete('tokenizer.ggml.eot_token_id');
  return converted;
}
