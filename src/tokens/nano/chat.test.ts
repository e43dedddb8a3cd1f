import { expect, test } from 'vitest';
import { createNanoChat, nanoTokenizer } from './chat.ts';
import { createNanoRenderer } from './renderer.ts';

const CLICK = { name: 'click', description: 'Clicks.', parameters: { type: 'object' } };
const PAGE = 'checkbox "MRW" [1]\nbutton "Submit" [2]';

test('a user message is the instruction and the page, as episodes render them', () => {
  const conversation = { messages: [{ role: 'user' as const, content: `Select MRW and click Submit.\n\n${PAGE}` }] };
  expect(createNanoChat().render(conversation)).toEqual(
    createNanoRenderer().render({
      instruction: 'Select MRW and click Submit.',
      tools: [],
      past: [],
      observation: { page: PAGE },
    }),
  );
});

test('a reference is a click where there is the tool, and text where there is none', () => {
  const chat = createNanoChat();
  const call = { name: 'click', arguments: '{"target":3}' };
  const said = chat.renderTurn({ messages: [] }, { role: 'assistant', content: '', toolCalls: [call] });
  expect(chat.parse(said, [CLICK])).toEqual({
    message: { role: 'assistant', content: '', toolCalls: [call] },
    ended: true,
  });
  expect(chat.parse(said)).toEqual({ message: { role: 'assistant', content: '[3]' }, ended: true });
  expect(chat.parse(said.slice(0, -1)).ended).toBe(false);
});

test('what nano cannot be told is refused', () => {
  const chat = createNanoChat();
  const messages = [{ role: 'user' as const, content: 'x' }];
  expect(() => chat.render({ messages, tools: [{ ...CLICK, name: 'type' }] })).toThrow(/click alone, not type/);
  expect(() => chat.render({ messages: [...messages, { role: 'assistant', content: 'y' }] })).toThrow(/of the user/);
});

test('the text of a control token is one only where that is asked for', () => {
  const tokenizer = nanoTokenizer();
  expect(tokenizer.encode('<end>').length).toBe(5);
  expect(tokenizer.encode('a<end>', { control: true })).toEqual([97, tokenizer.controlTokens.get('<end>')]);
  expect(tokenizer.decode(tokenizer.encode('Select [3] ü'))).toBe('Select [3] ü');
});
