// Our conversations in every format, against what the authors' own templates (gpt-oss: `openai-harmony`) made of them;
// see conformance/renderers. Texts need no vocabulary. Ids of Qwen3 and Qwen2.5 always run; the others do where
// conformance/renderers/sources.py has built their tokenizers.

import { describe, expect, it } from 'vitest';
import type { Tokenizer } from '../core/index.ts';
import { createChatRenderer, type ChatFormat } from './chat-format.ts';
import { CHAT_FORMATS } from './formats.ts';
import { controlSplitter } from './control-splitter.ts';
import { segmentsText } from './segments.ts';
import { conversations, goldenFormat, goldens, realTokenizer, refusedByDesign, type Golden } from './test-support.ts';

const write = (format: ChatFormat, golden: Golden, id: string): string => {
  const conversation = conversations.get(id)!;
  const { ending } = golden.records.find((record) => record.conversation === id)!;
  return segmentsText(format.write({ ...conversation, ending }));
};

describe('formats against the authors’ own', () => {
  it('covers every format, with at least 40 conversations that the reference renders and we do not refuse', () => {
    const covered = goldens.map(({ format }) => format);
    expect(CHAT_FORMATS.filter((name) => !name.includes('+tool-prompt')).sort()).toEqual([...covered].sort());
    for (const { format, records } of goldens) {
      const compared = records.filter(
        ({ text, conversation: id }) => text !== undefined && !refusedByDesign(format, conversations.get(id)!),
      );
      const count = new Set(compared.map(({ conversation }) => conversation)).size;
      expect([format, count >= 40 ? 'enough' : count]).toEqual([format, 'enough']);
    }
  });

  describe.each(goldens)('$format', (golden) => {
    const format = goldenFormat(golden.format);

    it('writes the same text', () => {
      let compared = 0;
      for (const { conversation: id, ending, text } of golden.records) {
        const conversation = conversations.get(id)!;
        if (text === undefined || refusedByDesign(golden.format, conversation)) continue;
        expect([id, ending, segmentsText(format.write({ ...conversation, ending }))]).toEqual([id, ending, text]);
        compared += 1;
      }
      expect(compared).toBeGreaterThanOrEqual(40);
    });

    it('refuses what the reference refuses or drops without a word', () => {
      for (const { conversation: id, text } of golden.records) {
        if (text !== undefined && !refusedByDesign(golden.format, conversations.get(id)!)) continue;
        expect(() => write(format, golden, id), id).toThrow(expect.objectContaining({ code: 'not-in-format' }));
      }
    });
  });
});

const ALWAYS = ['qwen3', 'qwen2.5'];
const families = [...new Set(goldens.map(({ tokenizer }) => tokenizer))];

describe.each(families)('ids with the real tokenizer of %s', (family) => {
  const tokenizer: Tokenizer | undefined = realTokenizer(family);
  const own = goldens.filter((golden) => golden.tokenizer === family);

  it.runIf(ALWAYS.includes(family) || tokenizer !== undefined)(
    'are the same in exact mode',
    { timeout: 180_000 },
    () => {
      for (const golden of own) {
        const renderer = createChatRenderer({
          format: goldenFormat(golden.format),
          tokenizer: tokenizer!,
          mode: 'exact',
        });
        for (const { conversation: id, ending, ids } of golden.records) {
          const conversation = conversations.get(id)!;
          if (ids === undefined || ending !== 'prompt' || refusedByDesign(golden.format, conversation)) continue;
          expect([golden.format, id, renderer.render(conversation)]).toEqual([golden.format, id, ids]);
        }
      }
    },
  );

  it.runIf(ALWAYS.includes(family) || tokenizer !== undefined)(
    'are the same in safe mode, except that content never becomes a control token',
    { timeout: 180_000 },
    () => {
      const split = controlSplitter(
        [...tokenizer!.controlTokens].map(([content, id]) => ({ content, id, lstrip: false, rstrip: false })),
      );
      const names = (text: string): number => split(text).filter(({ id }) => id !== undefined).length;
      const controls = new Set(tokenizer!.controlTokens.values());
      let protectedOnes = 0;
      for (const golden of own) {
        const format = goldenFormat(golden.format);
        const renderer = createChatRenderer({ format, tokenizer: tokenizer! });
        for (const { conversation: id, ending, ids, text } of golden.records) {
          const conversation = conversations.get(id)!;
          if (ids === undefined || ending !== 'prompt' || refusedByDesign(golden.format, conversation)) continue;
          const safe = renderer.render(conversation);
          const segments = format.write({ ...conversation, ending });
          const written = names(segmentsText(segments.filter(({ kind }) => kind === 'format')));
          expect([id, safe.filter((token) => controls.has(token)).length]).toEqual([id, written]);
          if (names(text!) === written || format.literalContent === true) {
            expect([golden.format, id, safe]).toEqual([golden.format, id, ids]);
          } else protectedOnes += 1;
        }
      }
      expect(protectedOnes > 0 || own[0].format.startsWith('gpt-oss')).toBe(true);
    },
  );
});
