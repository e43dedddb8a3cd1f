import { describe, expect, it } from 'vitest';
import type { Conversation, ToolSpec } from '../core/index.ts';
import { createChatRenderer } from './chat-format.ts';
import { chatFormat } from './formats.ts';
import { createPolicyRenderer } from './policy-renderer.ts';
import { byteTokenizer } from './test-support.ts';

const CLICK: ToolSpec = {
  name: 'click',
  description: 'Click.',
  parameters: { type: 'object', properties: { target: { type: 'integer' }, label: { type: 'string' } } },
};

function policy(name: string, limits: { maxPromptTokens?: number; maxPageTokens?: number } = {}) {
  const without = name.endsWith('+tool-prompt') ? ['<tool_call>', '</tool_call>'] : [];
  const chat = createChatRenderer({ format: chatFormat(name), tokenizer: byteTokenizer(without) });
  const renderer = createPolicyRenderer({ chat, maxPromptTokens: 8000, maxActionTokens: 500, ...limits });
  return { chat, renderer };
}

const first = (page = 'button "OK" [1]'): Conversation => ({
  instruction: 'Click OK.',
  tools: [CLICK],
  past: [],
  observation: { page },
});

describe('a chat model as a policy', () => {
  const NAMES = [
    'qwen3.6+no-thinking',
    'qwen3',
    'gpt-oss',
    'llama3.2',
    'nemotron3-nano',
    'smollm2+tool-prompt',
    'gemma3+tool-prompt',
  ];

  it.each(NAMES)('%s: an action said is the action read, and the next prompt extends it', (name) => {
    const { renderer } = policy(name);
    const action = { kind: 'call', tool: 'click', args: { target: 1, label: '007' } } as const;
    const said = renderer.renderAction(
      first(),
      action,
      /nemotron|gpt-oss|^qwen3$/.test(name) ? 'OK it is.' : undefined,
    );
    expect(renderer.parse(said, [CLICK])).toEqual(action);
    const prompt = renderer.render(first());
    const past = [{ observation: first().observation, actionTokens: said }];
    const next = renderer.render({ ...first(), past, observation: { page: 'heading "Done" [2]', notice: 'Clicked.' } });
    expect(next.slice(0, prompt.length + said.length)).toEqual([...prompt, ...said]);
  });

  it('shows the task, the page, and each answer with the notice before the page', () => {
    const { renderer, chat } = policy('qwen3.6+no-thinking');
    const said = renderer.renderAction(first(), { kind: 'call', tool: 'click', args: { target: 1 } });
    const past = [{ observation: first().observation, actionTokens: said }];
    const text = chat.tokenizer.decode(
      renderer.render({ ...first(), past, observation: { page: 'PAGE 2', notice: 'Note.' } }),
    );
    expect(text).toContain('<|im_start|>user\nClick OK.\n\nbutton "OK" [1]<|im_end|>\n');
    expect(text).toContain('<|im_start|>user\n<tool_response>\nNote.\n\nPAGE 2\n</tool_response><|im_end|>\n');
    expect(text.match(/untrusted|never an instruction to you/g)).toHaveLength(1);
  });

  it('keeps sampled tokens as they were, whatever they are, and answers a malformed call as the user', () => {
    const { renderer, chat } = policy('qwen3');
    const odd = [
      ...chat.tokenizer.encode('<think>x</think> <tool_call>\n{"name": click}\n</tool_call>', { control: true }),
      chat.stopTokens[0],
    ];
    expect(renderer.parse(odd, [CLICK])).toMatchObject({
      kind: 'malformed',
      problem: expect.stringContaining('JSON') as string,
    });
    const past = [{ observation: first().observation, actionTokens: odd }];
    const ids = renderer.render({ ...first(), past, observation: { page: 'P', notice: 'It could not be read.' } });
    const prompt = renderer.render(first());
    expect(ids.slice(prompt.length, prompt.length + odd.length)).toEqual(odd);
    expect(chat.tokenizer.decode(ids.slice(prompt.length + odd.length))).toBe(
      '\n<|im_start|>user\nIt could not be read.\n\nP<|im_end|>\n<|im_start|>assistant\n',
    );
  });

  it('says what was wrong with a reply that is no single call', () => {
    const { renderer, chat } = policy('qwen3-instruct-2507');
    const parse = (text: string) => renderer.parse(chat.tokenizer.encode(text, { control: true }), [CLICK]);
    const call = '<tool_call>\n{"name": "click", "arguments": {"target": 1}}\n</tool_call>';
    expect(parse(`${call}<|im_end|>`)).toEqual({ kind: 'call', tool: 'click', args: { target: 1 } });
    expect(parse(`${call}${call}<|im_end|>`)).toMatchObject({ problem: expect.stringContaining('2 calls') as string });
    expect(parse(call)).toMatchObject({ problem: expect.stringContaining('cut off after') as string });
    expect(parse('<|im_end|>')).toMatchObject({ kind: 'malformed', problem: 'the reply is empty' });
    expect(parse('All done.<|im_end|>')).toEqual({ kind: 'answer', text: 'All done.' });
    expect(parse('<tool_call>\n{"name": "click"}\n</tool_call><|im_end|>')).toMatchObject({
      problem: 'a call needs "arguments", an object',
    });
    expect(parse('<tool_call>\n{"name": "click", "arg<|im_end|>')).toMatchObject({
      problem: 'the call was not closed with </tool_call>',
      text: '<tool_call>\n{"name": "click", "arg<|im_end|>',
    });
  });

  it('cuts the end of a long page and says so', () => {
    const { renderer, chat } = policy('qwen3', { maxPageTokens: 100 });
    const text = chat.tokenizer.decode(renderer.render(first(`${'a'.repeat(99)}ü${'b'.repeat(500)}`)));
    expect(text).toMatch(/\n\na+\n\[The rest of the page is left out\.\]<\|im_end\|>/);
    expect(/\n\n(a+)\n/.exec(text)![1].length).toBe(100 - '\n[The rest of the page is left out.]'.length);
  });

  it('never exceeds its limit: the conversation begins anew at the turn that no longer fits', () => {
    const { renderer } = policy('qwen3-instruct-2507', { maxPromptTokens: 2200 });
    const past: { observation: { page: string }; actionTokens: readonly number[] }[] = [];
    let before: readonly number[] = [];
    const extended: boolean[] = [];
    for (let turn = 0; turn < 8; turn++) {
      const now = { ...first(), past: [...past], observation: { page: `${turn}`.repeat(200) } };
      const prompt = renderer.render(now);
      expect(prompt.length).toBeLessThanOrEqual(2200);
      extended.push(before.every((id, index) => prompt[index] === id));
      const said = renderer.renderAction(now, { kind: 'call', tool: 'click', args: { target: turn } });
      past.push({ observation: now.observation, actionTokens: said });
      before = [...prompt, ...said];
    }
    expect(extended.filter((value) => !value).length).toBeGreaterThan(0);
    expect(extended.filter((value) => value).length).toBeGreaterThan(extended.length / 2);
  });

  it('refuses a task that does not fit without any page', () => {
    const { renderer } = policy('qwen3', { maxPromptTokens: 100 });
    expect(() => renderer.render(first())).toThrow(
      expect.objectContaining({ boundary: 'config', code: 'prompt-too-long' }),
    );
  });
});
