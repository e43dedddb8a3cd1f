// Templates of our own here; where conformance/renderers/sources.py has fetched the authors' templates, all goldens too.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message, ToolSpec } from '../core/index.ts';
import { createChatRenderer } from './chat-format.ts';
import { segmentsText } from './segments.ts';
import { createTemplateFormat } from './template-format.ts';
import { byteTokenizer, conversations, goldens } from './test-support.ts';

const CHATML =
  "{%- if tools %}{{- '<|im_start|>system\\nTools: ' + (tools | tojson) + '<|im_end|>\\n' }}{%- endif %}" +
  "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content | trim }}" +
  "{%- for call in message.tool_calls or [] %}{{- '<tool_call>' + (call.function | tojson) + '</tool_call>' }}{%- endfor %}" +
  "{{- '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}";
const PLAIN = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' }}{% endfor %}";
const ACT: ToolSpec = { name: 'act', description: 'Acts.', parameters: { type: 'object', properties: {} } };

const tokenizer = byteTokenizer();
const renderer = (template: string) =>
  createChatRenderer({ format: createTemplateFormat({ name: 'own', template, tokenizer }), tokenizer });

describe("a model's own template", () => {
  const user: Message = { role: 'user', content: 'Hi' };

  it('gives prompts, turns and what follows a turn, and reads calls', () => {
    const chat = renderer(CHATML);
    const before = { messages: [user], tools: [ACT] };
    const call = { role: 'assistant', content: '', toolCalls: [{ name: 'act', arguments: '{"a": "b"}' }] } as const;
    const said = chat.renderTurn(before, call);
    expect(tokenizer.decode(said)).toBe('<tool_call>{"name": "act", "arguments": {"a": "b"}}</tool_call><|im_end|>');
    expect(chat.parse(said, [ACT])).toEqual({ message: call, ended: true });
    const next = chat.renderNext(before, { tokens: said, message: call }, [{ role: 'tool', content: 'ok' }]);
    expect(tokenizer.decode(next)).toBe('\n<|im_start|>tool\nok<|im_end|>\n<|im_start|>assistant\n');
    const anew = chat.render({ ...before, messages: [user, call, { role: 'tool', content: 'ok' }] });
    expect([...chat.render(before), ...said, ...next]).toEqual(anew);
  });

  it('never lets content become a control token, whole or in parts', () => {
    const chat = renderer(
      `${PLAIN}{% if messages | length > 1 %}{{ messages[0].content + messages[1].content }}{% endif %}`,
    );
    const usual = chat.render({ messages: [user, { role: 'user', content: 'x' }] });
    const control = (ids: readonly number[]) => ids.filter((id) => id >= 256);
    for (const [first, second] of [
      ['<|im_end|>', '<|im_start|>'],
      ['a <|im_', 'end|> b'],
      ['<', '|im_end|>'],
      ['\ue0f01\ue0f1', '\ue0f2spoken\ue0f3'],
    ] as const) {
      const ids = chat.render({
        messages: [
          { role: 'user', content: first },
          { role: 'user', content: second },
        ],
      });
      expect([first, control(ids)]).toEqual([first, control(usual)]);
      expect(tokenizer.decode(ids).endsWith(first + second)).toBe(true);
    }
  });

  it('refuses what a template drops without a word, and what it raises', () => {
    const chat = renderer(PLAIN);
    const call: Message = { role: 'assistant', content: '', toolCalls: [{ name: 'act', arguments: '{}' }] };
    const refused = (what: string): Error =>
      expect.objectContaining({ code: 'not-in-format', message: expect.stringContaining(what) as string }) as Error;
    expect(() => chat.render({ messages: [user], tools: [ACT] })).toThrow(refused('drops the declarations of tools'));
    expect(() => chat.render({ messages: [user, call] })).toThrow(refused('drops the call of act'));
    const strict = renderer(`${PLAIN}{% if messages | length > 2 %}{{ raise_exception('Too long') }}{% endif %}`);
    expect(() => strict.render({ messages: [user, user, user] })).toThrow(refused('Too long'));
    expect(() => renderer('{% for')).toThrow(expect.objectContaining({ code: 'template-unreadable' }));
    expect(() => renderer('{{ messages[0].content }}')).toThrow(expect.objectContaining({ code: 'no-stop-token' }));
  });
});

const FETCHED = join(import.meta.dirname, '../../.cache/renderers/trl/trl/chat_templates');
const TEMPLATES: Readonly<Record<string, string>> = {
  'qwen2.5': 'qwen2_5',
  qwen3: 'qwen3',
  'qwen3-instruct-2507': 'qwen3_instruct_2507',
  'qwen3.5': 'qwen3_5_think',
  'qwen3.6': 'qwen3_6',
  'llama3.1': 'llama3_1',
  'nemotron3-nano': 'nemotron_3_nano',
};

const EXCUSED =
  /^(?:arguments-|specials|thinking-in|thinking-unclosed|tools-(?:system|all|odd)|unicode|control-char|loop-thinking$)/;

describe.runIf(existsSync(FETCHED))("the authors' templates as templates", () => {
  it.each(Object.entries(TEMPLATES))('%s', { timeout: 60_000 }, (name, file) => {
    const template = readFileSync(join(FETCHED, `${file}.jinja`), 'utf8');
    const format = createTemplateFormat({ name, template, tokenizer, bosToken: '<|begin_of_text|>' });
    const differing: string[] = [];
    for (const { conversation: id, ending, text } of goldens.find((golden) => golden.format === name)!.records) {
      if (text === undefined || ending !== 'prompt') continue;
      try {
        const segments = format.write({ ...conversations.get(id)!, ending });
        if (segmentsText(segments) !== text) differing.push(id);
      } catch {
        differing.push(`${id} (refused)`);
      }
    }
    // What JavaScript's Jinja does otherwise (its trim, str of booleans and numbers, filters on null), and turns that spell
    // marks of thinking in their text, which are hidden from the template.
    expect(differing.filter((id) => !EXCUSED.test(id))).toEqual([]);
  });
});
