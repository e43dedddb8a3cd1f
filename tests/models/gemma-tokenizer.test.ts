// Gemma 3's published tokenizer in a GGUF file of ours, in llama.cpp, against the tokenizer.json that it came from.

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ask, CACHE, hasLlamaCpp } from '../../conformance/models/places.ts';
import { exportGguf, mergedModel, openModelFolder } from '../../src/engine/index.ts';
import { loadTokenizer, tokenizerToGguf } from '../../src/tokens/index.ts';
import { GEMMA_AS_LLAMA_CPP_HAS_IT, withLayers } from './tiny-gguf.ts';
import { variedTexts } from './texts.ts';

/** Built by conformance/renderers/sources.py. */
const GEMMA = join(CACHE, '..', 'tokenizers', 'gemma3');
const ROWS = 262_144;

it.skipIf(!hasLlamaCpp || !existsSync(join(GEMMA, 'tokenizer.json')))(
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
        ...{ vocab_size: ROWS, bos_token_id: 2, eos_token_id: [1, 106], pad_token_id: 0 },
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
