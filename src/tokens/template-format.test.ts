// Templates of our own here; where conformance/renderers/sources.py has fetched the authors' templates, all goldens too.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message, ToolSpec } from '../core/index.ts';
import { createChatRenderer } from './chat-format.ts';
import { segmentsText } from './segments.ts';
import { createTemplateFormat, type TemplateFormatOptions } from './template-format.ts';
import { byteTokenizer, conversations, goldens } from './test-support.ts';

const CHATML =
  "{%- if tools %}{{- '<|im_start|>system\\nTools: ' + (tools | tojson) + '<|im_end|>\\n' }}{%- endif %}" +
  "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\\n' + message.content | trim }}" +
  "{%- for call in message.tool_calls or [] %}{{- '<tool_call>' + (call.function | tojson) + '</tool_call>' }}{%- endfor %}" +
  "{{- '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}";
const PLAIN =
  "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
const ACT: ToolSpec = { name: 'act', description: 'Acts.', parameters: { type: 'object', properties: {} } };

const tokenizer = byteTokenizer();
const renderer = (template: string, more: Partial<TemplateFormatOptions> = {}) =>
  createChatRenderer({ format: createTemplateFormat({ name: 'own', template, tokenizer, ...more }), tokenizer });

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

  it('says whether the author refuses or this Jinja cannot, and refuses at once what can write no exchange', () => {
    const unable = renderer(`${PLAIN}{% if messages | length > 2 %}{{ messages[0].content | unheard_of }}{% endif %}`);
    expect(() => unable.render({ messages: [user, user, user] })).toThrow(
      expect.objectContaining({ code: 'template-failed', message: expect.stringMatching(/unheard_of/) as string }),
    );
    const strict = "{% if messages[0].role != 'system' %}{{ raise_exception('Needs a system text') }}{% endif %}";
    expect(() => renderer(strict + PLAIN)).toThrow(
      expect.objectContaining({
        code: 'template-unusable',
        message: expect.stringContaining('Needs a system text') as string,
      }),
    );
  });

  it('refuses a template that never says that the assistant is to speak', () => {
    const silent = PLAIN.replace('add_generation_prompt', 'false');
    expect(() => renderer(silent)).toThrow(
      expect.objectContaining({
        code: 'no-generation-prompt',
        message: expect.stringContaining('<|im_start|>assistant') as string,
      }),
    );
    // Where the answer simply follows, there is nothing to say.
    const bare =
      "{% for m in messages %}{{ m.content }}{% if m.role == 'assistant' %}<|im_end|>{% endif %}{% endfor %}";
    expect(tokenizer.decode(renderer(bare).render({ messages: [user] }))).toBe('Hi');
  });

  it('gives calls as the template takes them: values where it writes JSON, JSON where it prints what it gets', () => {
    const calls = (expression: string): string =>
      `${PLAIN}{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.name + ' ' + ${expression} }}{% endfor %}{% endfor %}`;
    const args = '{"n": 1.0, "m": {"x": 1e-07}, "t": "<|im_end|>"}';
    const call: Message = { role: 'assistant', content: '', toolCalls: [{ name: 'act', arguments: args }] };
    const written = (template: string): string =>
      tokenizer.decode(renderer(template).render({ messages: [user, call] }));
    expect(written(calls('c.function.arguments | tojson'))).toContain(
      'act {"n": 1, "m": {"x": 1e-7}, "t": "<|im_end|>"}',
    );
    // To the letter.
    expect(written(calls('c.function.arguments'))).toContain(`act ${args}`);
    const either = '(c.function.arguments if c.function.arguments is string else c.function.arguments | tojson)';
    expect(written(calls(either))).toContain(`act ${args}`);
    const parts = "c.function.arguments.n | string + ' ' + c.function.arguments.t";
    expect(written(calls(parts))).toContain('act 1 <|im_end|>');
  });

  it('writes the same date on every day: the one it is given, which is then part of its name', () => {
    const dated = `{{ 'Today is ' + strftime_now('%d %b %Y, %A %-d/%m') }}${PLAIN}`;
    expect(tokenizer.decode(renderer(dated).render({ messages: [user] }))).toMatch(
      /^Today is 26 Jul 2024, Friday 26\/07/,
    );
    const given = renderer(dated, { date: '2026-11-03' });
    expect(tokenizer.decode(given.render({ messages: [user] }))).toMatch(/^Today is 03 Nov 2026, Tuesday 3\/11/);
    expect([renderer(dated).name, given.name]).toEqual(['own/safe', 'own@2026-11-03/safe']);
    expect(() => renderer(`{{ strftime_now('%c') }}${PLAIN}`)).toThrow(/%c is not known/);
    expect(() => renderer(PLAIN, { date: '3.11.' })).toThrow(expect.objectContaining({ code: 'bad-date' }));
  });

  it('takes the template that its author has for tools, where there are tools', () => {
    const chat = renderer(PLAIN, { toolTemplate: CHATML });
    expect(tokenizer.decode(chat.render({ messages: [user] }))).not.toContain('Tools:');
    expect(tokenizer.decode(chat.render({ messages: [user], tools: [ACT] }))).toContain('Tools: [{"type": "function"');
  });

  it('is given the functions that templates have everywhere', () => {
    const counted = `${PLAIN}{% for i in range(1, 7, 2) %}{{ i }}{% endfor %}{{ range(3) | length }}{% if True and None is none %}!{% endif %}`;
    expect(tokenizer.decode(renderer(counted).render({ messages: [user] }))).toMatch(/1353!$/);
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
