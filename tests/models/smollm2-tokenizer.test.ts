// The tokenizer that is put together from a GGUF file's metadata, against llama.cpp on the same file.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Tokenizer } from '../../src/core/index.ts';
import { openGguf, type GgufMetadata } from '../../src/engine/index.ts';
import { createGgufTokenizer, ggufTokenizerJson, loadTokenizer, tokenizerToGguf } from '../../src/tokens/index.ts';
import { ask, hasLlamaCpp, hasSmolLm2, SMOLLM2, SMOLLM2_GGUF } from '../../conformance/models/places.ts';
import { variedTexts } from './texts.ts';

const TEXTS = variedTexts(240);

describe.skipIf(!hasSmolLm2)('the tokenizer of a GGUF file', () => {
  let metadata: GgufMetadata;
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    const model = await openGguf(SMOLLM2_GGUF);
    await model.source.close();
    metadata = model.metadata;
    tokenizer = createGgufTokenizer({ name: 'smollm2', metadata });
  }, 60_000);

  it.skipIf(!hasLlamaCpp)("gives llama.cpp's ids on 240 varied texts", { timeout: 120_000 }, async () => {
    const expected = await ask<number[][]>('llama-tokens.mjs', { args: [SMOLLM2_GGUF], input: TEXTS });
    const wrong = TEXTS.flatMap((text, i) =>
      tokenizer.encode(text).join() === expected[i].join()
        ? []
        : [{ text, ours: tokenizer.encode(text), theirs: expected[i] }],
    );
    expect(wrong).toEqual([]);
    expect(expected.reduce((sum, ids) => sum + ids.length, 0)).toBeGreaterThan(5_000);
  });

  it('gives back every text that it encodes', () => {
    for (const text of TEXTS) expect(tokenizer.decode(tokenizer.encode(text))).toBe(text);
  });

  it('knows the control tokens as such and as text', () => {
    expect(tokenizer.vocabSize).toBe(49_152);
    expect(tokenizer.encode('<|im_start|>', { control: true })).toEqual([1]);
    expect(tokenizer.encode('<|im_start|>').length).toBeGreaterThan(1);
  });

  it('is the one that the model folder has', async () => {
    const other = await loadTokenizer(SMOLLM2);
    for (const text of TEXTS) expect(tokenizer.encode(text), text).toEqual(other.encode(text));
  });

  it('goes back into the metadata that it came from', async () => {
    const read = async (name: string): Promise<Record<string, unknown>> =>
      JSON.parse(await readFile(join(SMOLLM2, name), 'utf8')) as Record<string, unknown>;
    const entries = tokenizerToGguf({
      name: 'smollm2',
      json: ggufTokenizerJson({ name: 'smollm2', metadata }),
      config: await read('tokenizer_config.json'),
      vocabSize: 49_152,
      ids: await read('config.json'),
      chatTemplate: await readFile(join(SMOLLM2, 'chat_template.jinja'), 'utf8'),
    });
    for (const [key, entry] of entries) expect(metadata.get(key), key).toEqual(entry);
    const missing = [...metadata.keys()].filter((key) => key.startsWith('tokenizer.') && !entries.has(key));
    // Both have no effect on a byte-level tokenizer without an unknown token.
    expect(missing).toEqual(['tokenizer.ggml.add_space_prefix', 'tokenizer.ggml.unknown_token_id']);
  });
});
