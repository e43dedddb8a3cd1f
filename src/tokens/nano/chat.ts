// `nano` behind the interfaces of chat models. It knows no conversations, so this is a convention of ours: the last user
// message is the instruction, and after a blank line the page; what came before is left out. Its one tool is `click`.

import { contentText, TabwrightError, type ChatRenderer, type Message, type Tokenizer } from '../../core/index.ts';
import { createNanoRenderer, nanoReply } from './renderer.ts';
import { decodeNano, encodeNano, NANO_CONTROL, nanoControlId, NANO_VOCABULARY_SIZE } from './tokenizer.ts';

export function nanoTokenizer(): Tokenizer {
  const controlTokens = new Map<string, number>(NANO_CONTROL.map((text) => [text, nanoControlId(text)]));
  const control = new RegExp(`(${NANO_CONTROL.join('|')})`);
  return {
    name: 'nano',
    vocabSize: NANO_VOCABULARY_SIZE,
    controlTokens,
    encode(text, options = {}) {
      if (options.control !== true) return encodeNano(text);
      return text.split(control).flatMap((part) => controlTokens.get(part) ?? encodeNano(part));
    },
    decode: decodeNano,
  };
}

export function createNanoChat(): ChatRenderer {
  const nano = createNanoRenderer();
  const fail = (message: string): never => {
    throw new TabwrightError('policy', message, { code: 'unsayable' });
  };
  return {
    name: 'nano-chat/1',
    tokenizer: nanoTokenizer(),
    stopTokens: nano.stopTokens,
    render({ messages, tools = [] }) {
      const other = tools.find(({ name }) => name !== 'click');
      if (other !== undefined) fail(`nano knows the tool click alone, not ${other.name}.`);
      const last: Message | undefined = messages.at(-1);
      if (last?.role !== 'user') return fail('The last message must be of the user: nano answers nobody else.');
      const text = contentText(last.content) ?? fail('nano reads text, no pictures.');
      const blank = text.indexOf('\n\n');
      const [instruction, page] = blank < 0 ? [text, ''] : [text.slice(0, blank), text.slice(blank + 2)];
      return [...nano.render({ instruction, tools, past: [], observation: { page } })];
    },
    renderTurn(_conversation, message) {
      const [call] = message.toolCalls ?? [];
      if (call === undefined) return nanoReply(contentText(message.content) ?? fail('nano says text, no pictures.'));
      const { target } = JSON.parse(call.arguments) as { target?: unknown };
      return nanoReply(`[${String(target)}]`);
    },
    renderNext: () => fail('nano reads a page anew each time; render the next conversation.'),
    parse(tokens, tools = []) {
      const end = nano.stopTokens[0];
      const ended = tokens.at(-1) === end;
      const content = decodeNano(ended ? tokens.slice(0, -1) : tokens);
      if (tools.length === 0) return { message: { role: 'assistant', content }, ended };
      const action = nano.parse(tokens);
      if (action.kind === 'call') {
        const call = { name: action.tool, arguments: JSON.stringify(action.args) };
        return { message: { role: 'assistant', content: '', toolCalls: [call] }, ended };
      }
      return { message: { role: 'assistant', content }, ended };
    },
  };
}
