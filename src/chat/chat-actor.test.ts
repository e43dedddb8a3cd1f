// From conversations to messages and from replies to actions; scripts.

import { describe, expect, it } from 'vitest';
import type { ActorConversation, ChatRecord, ChatReply } from '../core/index.ts';
import { conversationMessages } from './conversation-messages.ts';
import { readReply } from './read-reply.ts';
import { createScriptedActor, readReplies } from './scripted-actor.ts';

const call = (args: string, id = 'a'): ChatReply => ({ text: '', calls: [{ id, name: 'tool', arguments: args }] });
const turn = (reply: ChatReply, page: string) => ({
  observation: { page },
  action: readReply(reply, 'stop'),
  record: { reply, stop: 'stop' as const },
});

describe('readReply', () => {
  it.each([
    ['a call', call('{"n":1}'), 'stop', { kind: 'call', tool: 'tool', args: { n: 1 } }],
    ['a call without arguments', call(''), 'stop', { kind: 'call', tool: 'tool', args: {} }],
    ['a text', { text: 'Done', calls: [] }, 'stop', { kind: 'answer', text: 'Done' }],
    ['nothing', { text: ' ', calls: [] }, 'stop', { kind: 'malformed', problem: 'the reply is empty' }],
    ['a list of arguments', call('[1]'), 'stop', { kind: 'malformed', text: 'tool([1])' }],
    ['broken arguments', call('{"n":'), 'stop', { kind: 'malformed' }],
    ['a text that was cut', { text: 'I thi', calls: [] }, 'length', { kind: 'malformed' }],
    ['two calls', { text: '', calls: [...call('{}').calls, ...call('{}').calls] }, 'stop', { kind: 'malformed' }],
  ] as const)('%s', (_, reply, stop, action) => expect(readReply(reply, stop)).toMatchObject(action));
});

it('arguments may nest, but not so deep that whoever reads them later runs out of stack', () => {
  const nested = (depth: number, inner = ''): ChatReply =>
    call(`{"a":${'['.repeat(depth)}${inner}${']'.repeat(depth)}}`);
  expect(readReply(nested(99), 'stop').kind).toBe('call');
  for (const depth of [100, 2_000, 100_000]) {
    expect(readReply(nested(depth), 'stop')).toMatchObject({
      kind: 'malformed',
      problem: expect.stringContaining('nested deeper than 100') as string,
    });
  }
  const brackets = JSON.stringify('"\\[{'.repeat(1_000));
  expect(readReply(nested(1, brackets), 'stop')).toMatchObject({ args: { a: ['"\\[{'.repeat(1_000)] } });
});

describe('conversationMessages', () => {
  const conversation = (past: ActorConversation<ChatRecord>['past']): ActorConversation<ChatRecord> => ({
    instruction: 'Buy tea',
    tools: [],
    past,
    observation: { page: 'now', notice: 'ok' },
  });

  it('answers each call with what was seen after it, under ids that are unique', () => {
    const messages = conversationMessages(
      conversation([turn(call('{"n":1}'), 'first'), turn(call('{"n":2}'), 'then')]),
    );
    expect(messages.slice(1)).toEqual([
      { role: 'user', content: 'Buy tea\n\nfirst' },
      { role: 'assistant', text: '', calls: [{ id: '0_0_a', name: 'tool', arguments: '{"n":1}' }] },
      { role: 'tool', callId: '0_0_a', text: 'then' },
      { role: 'assistant', text: '', calls: [{ id: '1_0_a', name: 'tool', arguments: '{"n":2}' }] },
      { role: 'tool', callId: '1_0_a', text: 'ok\n\nnow' },
    ]);
  });

  it('extends what was said before', () => {
    const one = conversationMessages({ ...conversation([]), observation: { page: 'first' } });
    const two = conversationMessages(conversation([turn(call('{}'), 'first')]));
    expect(two.slice(0, one.length)).toEqual(one);
  });

  it('gives unreadable arguments back as JSON, and replies without a call as text', () => {
    const messages = conversationMessages(conversation([turn(call('{"n":'), 'a'), turn({ text: '', calls: [] }, 'b')]));
    expect(messages[2]).toMatchObject({ calls: [{ arguments: '{"unreadable":"{\\"n\\":"}' }] });
    expect(messages.slice(-2)).toEqual([
      { role: 'assistant', text: '', calls: [] },
      { role: 'user', content: 'ok\n\nnow' },
    ]);
  });
});

describe('scripts', () => {
  const { signal } = new AbortController();
  const text = `{"tool_calls": [{"function": {"name": "tool", "arguments": {"n": 1}}}]}\n\n{"role": "assistant", "content": "Done"}\n`;

  it('are read line by line and played turn by turn', async () => {
    const actor = createScriptedActor('script', readReplies(text, 'file'));
    const ask = (past: ActorConversation<ChatRecord>['past']) =>
      actor.act({ instruction: '', tools: [], past, observation: { page: '' } }, { signal, seed: 0 });
    const first = await ask([]);
    expect(first.action).toEqual({ kind: 'call', tool: 'tool', args: { n: 1 } });
    const past = [{ observation: { page: '' }, ...first }];
    expect((await ask(past)).action).toEqual({ kind: 'answer', text: 'Done' });
    await expect(ask([...past, ...past])).rejects.toMatchObject({ boundary: 'policy', code: 'script-ended' });
  });

  it.each([['{'], ['{"text": "x"}'], ['{"tool_calls": [{"name": "tool"}]}']])('%s is refused with its line', (line) => {
    expect(() => readReplies(`${text}${line}`, 'file')).toThrow(/^file:4 is no assistant's message: /);
  });
});
