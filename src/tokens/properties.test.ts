// What holds in every format, with a tokenizer of bytes: what a turn says is what is read of it, prompts extend each other
// exactly where a format's template lets them, and content stays content.

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssistantMessage, Message, ToolCall, ToolSpec } from '../core/index.ts';
import { createChatRenderer } from './chat-format.ts';
import { CHAT_FORMATS, chatFormat } from './formats.ts';
import { byteTokenizer } from './test-support.ts';

const WITHOUT_THINKING = /^(?:qwen2\.5|qwen3-instruct|llama|smollm2|gemma3)|no-thinking/;
const WITHOUT_TOOLS = /^(?:llama3|smollm2|gemma3)$/;
const NEEDS_THINKING = /^nemotron3-(?:nano|super|ultra)(?!\+no-thinking)/;
const ONE_CALL = /^(?:llama3\.|gpt-oss)/;

/** In these, marks of calls are text, so text must not spell them. */
const tokenizerOf = (name: string) =>
  byteTokenizer(name.endsWith('+tool-prompt') ? ['<tool_call>', '</tool_call>'] : []);
const rendererOf = (name: string) => createChatRenderer({ format: chatFormat(name), tokenizer: tokenizerOf(name) });

const TOOL: ToolSpec = {
  name: 'act',
  description: 'Acts.',
  parameters: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      count: { type: 'integer' },
      ratio: { type: 'number' },
      on: { type: 'boolean' },
      list: { type: 'array' },
      map: { type: 'object' },
      reference: { $ref: '#/$defs/word' },
      either: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    },
    $defs: { word: { type: 'string' } },
  },
};

const word = fc.string({ unit: fc.constantFrom(...'aZ09 .,:;!?"\'\\{}[]<>|=/\n\t-_äß漢😀'), maxLength: 20 });
/** Text as formats keep it: none of them keeps white space at the edges. */
const text = word.map((value) => value.trim());
const said = text.filter((value) => value !== '');
const value = {
  text: fc.oneof(word, fc.constantFrom('007', '5', 'true', 'null', '1.0', '{"a": 1}', '</parameter>', '  x\n')),
  count: fc.constantFrom('0', '-7', '1152921504606846976'),
  ratio: fc.constantFrom('1.0', '1e-07', '-0.5', '3', '1E+20'),
  on: fc.constantFrom('true', 'false'),
  list: fc.constantFrom('[]', '[1.0, "a", null]', '[{"b": [true]}]'),
  map: fc.constantFrom('{}', '{"10": 1, "2": {"x": 1e-07}}'),
  either: fc.constantFrom('null', '12'),
};
const call: fc.Arbitrary<ToolCall> = fc
  .record(
    { ...value, text: value.text.map((entry) => JSON.stringify(entry)), reference: fc.constantFrom('"7"', '"true"') },
    { requiredKeys: [] },
  )
  .map((given) => {
    const entries = Object.entries(given).map(([key, entry]) => `"${key}": ${entry}`);
    return { name: 'act', arguments: `{${entries.join(', ')}}` };
  });

function turns(name: string): fc.Arbitrary<AssistantMessage> {
  const calls = WITHOUT_TOOLS.test(name) ? fc.constant([]) : fc.array(call, { maxLength: ONE_CALL.test(name) ? 1 : 3 });
  const thinking = WITHOUT_THINKING.test(name)
    ? fc.constant('')
    : NEEDS_THINKING.test(name)
      ? said
      : fc.oneof(said, fc.constant(''));
  return fc.record({ content: text, thinking, calls }).map((given) => ({
    role: 'assistant' as const,
    content: name.startsWith('llama3.') && given.calls.length > 0 ? '' : given.content,
    ...(given.thinking === '' ? {} : { thinking: given.thinking }),
    ...(given.calls.length === 0 ? {} : { toolCalls: given.calls }),
  }));
}

const conversation = { messages: [{ role: 'user', content: 'Go.' }] as readonly Message[] };
const withTool = (name: string) => ({ ...conversation, tools: WITHOUT_TOOLS.test(name) ? [] : [TOOL] });

describe.each(CHAT_FORMATS)('%s', (name) => {
  const renderer = rendererOf(name);
  // Marks that are text in this format would be read as marks.
  const plain = (message: AssistantMessage): boolean =>
    !name.startsWith('llama3.') || !/^\s*\{\s*"/.test(message.content as string);

  it('reads a turn as it was said, and every turn ends with a stop token', () => {
    const { tools } = withTool(name);
    fc.assert(
      fc.property(turns(name).filter(plain), (turn) => {
        const ids = renderer.renderTurn(withTool(name), turn);
        expect(renderer.stopTokens).toContain(ids.at(-1));
        expect(ids.filter((id) => renderer.stopTokens.includes(id))).toHaveLength(1);
        expect(renderer.parse(ids, tools)).toEqual({ message: turn, ended: true });
      }),
      { numRuns: 60 },
    );
  });

  it('never reads control tokens in content', () => {
    const names = [...renderer.tokenizer.controlTokens.keys()];
    const hostile = fc.array(fc.oneof(fc.constantFrom(...names), word)).map((parts) => `x${parts.join('')}x`);
    const count = (content: string): number => {
      const result: Message[] = WITHOUT_TOOLS.test(name) ? [] : [{ role: 'tool', name: 'act', content }];
      const said: AssistantMessage = {
        role: 'assistant',
        content: result.length > 0 ? '' : content,
        ...(result.length > 0 ? { toolCalls: [{ name: 'act', arguments: JSON.stringify({ text: content }) }] } : {}),
      };
      const messages: Message[] = [{ role: 'system', content }, { role: 'user', content }, said, ...result];
      if (result.length === 0) messages.push({ role: 'user', content });
      return renderer.render({ messages, tools: withTool(name).tools }).filter((id) => id >= 256).length;
    };
    const usual = count('xx');
    fc.assert(
      fc.property(hostile, (content) => {
        expect(count(content)).toBe(usual);
      }),
      { numRuns: 30 },
    );
  });

  it('returns what was wrong with whatever was sampled, and never throws', () => {
    const ids = fc.array(fc.nat({ max: renderer.tokenizer.vocabSize + 3 }), { maxLength: 40 });
    fc.assert(
      fc.property(ids, (tokens) => {
        const { message } = renderer.parse(tokens, [TOOL]);
        expect(message.role).toBe('assistant');
        for (const { problem } of message.malformedCalls ?? []) expect(problem).not.toBe('');
      }),
      { numRuns: 100 },
    );
  });
});

describe('prompts after a turn', () => {
  const said = (name: string): AssistantMessage => ({
    role: 'assistant',
    content: 'Done.',
    ...(WITHOUT_THINKING.test(name) ? {} : { thinking: 'Hm.' }),
  });
  /** Whether what was sampled is what the template makes of it later, so that nothing needs to be kept. */
  const extendsAfter = (name: string, turn: AssistantMessage, next: Message, earlier = 0): boolean => {
    const renderer = rendererOf(name);
    const past = Array.from({ length: earlier }, (_, i): Message[] => [{ role: 'user', content: `${i}?` }, said(name)]);
    const { messages, ...rest } = withTool(name);
    const before = { ...rest, messages: [...past.flat(), ...messages] };
    const tokens = renderer.renderTurn(before, turn);
    const longer = [
      ...renderer.render(before),
      ...tokens,
      ...renderer.renderNext(before, { tokens, message: turn }, [next]),
    ];
    const anew = renderer.render({ ...before, messages: [...before.messages, turn, next] });
    return JSON.stringify(longer) === JSON.stringify(anew);
  };

  it.each([0, 1, 3])(
    'extend the prompt before exactly in formats that keep all of an answer, %i answers in',
    (past) => {
      const more: Message = { role: 'user', content: 'More.' };
      const extending = CHAT_FORMATS.filter((name) => extendsAfter(name, said(name), more, past));
      const keeps =
        /^(?:qwen2\.5|qwen3-instruct|llama3|smollm2|gemma3|nemotron3.*(?:preserve|no)-thinking|qwen3\.6.*preserve)/;
      expect(extending.sort()).toEqual(CHAT_FORMATS.filter((name) => keeps.test(name)).sort());
    },
  );

  it.each([0, 1, 3])(
    'extend the prompt before while a loop of calls is open, but in formats named here, %i answers in',
    (past) => {
      const names = CHAT_FORMATS.filter((name) => !WITHOUT_TOOLS.test(name));
      const calling = (name: string): AssistantMessage => ({
        ...said(name),
        content: '',
        toolCalls: [{ name: 'act', arguments: '{"text": "x"}' }],
      });
      const result: Message = { role: 'tool', name: 'act', content: 'ok' };
      // Qwen3 without thinking: the empty block of the prompt is no part of its history.
      const open = names.filter((name) => !extendsAfter(name, calling(name), result, past));
      // gpt-oss: openai-harmony drops what was thought before an answer, and writes it again once a later question's loop is open.
      const again = past === 0 ? [] : CHAT_FORMATS.filter((name) => name.startsWith('gpt-oss'));
      expect(open.sort()).toEqual(['qwen3+no-thinking', ...again].sort());
    },
  );

  it('close a turn that was cut, and keep its tokens', () => {
    for (const name of CHAT_FORMATS) {
      const renderer = rendererOf(name);
      const tokens = renderer.tokenizer.encode('half a sen');
      const turn = { tokens, message: renderer.parse(tokens).message };
      const next = renderer.renderNext(conversation, turn, [{ role: 'user', content: 'Go on.' }]);
      const written = renderer.tokenizer.decode(next);
      expect([name, written.startsWith(chatFormat(name).closing ?? chatFormat(name).stops[0] ?? '')]).toEqual([
        name,
        true,
      ]);
      expect([name, written.includes('half')]).toEqual([name, false]);
    }
  });

  it('begin with one begin token, whatever the content says', () => {
    for (const [name, bos] of [
      ['llama3', '<|begin_of_text|>'],
      ['llama3.1', '<|begin_of_text|>'],
      ['gemma3', '<bos>'],
    ] as const) {
      const renderer = rendererOf(name);
      const id = renderer.tokenizer.controlTokens.get(bos)!;
      const ids = renderer.render({ messages: [{ role: 'user', content: `${bos}Hello` }] });
      expect([name, ids[0], ids.filter((token) => token === id).length]).toEqual([name, id, 1]);
    }
  });
});
