// Gemma 3: turns of user and model that alternate; a system text goes before the first question. Its template ignores
// tools, so they are refused here; see tool-prompt.ts. Reference: the authors' chat template. Text only.

import type { Message } from '../../core/index.ts';
import type { ChatFormat } from '../chat-format.ts';
import { piecesText } from '../reply.ts';
import { SegmentWriter } from '../segments.ts';
import { pythonStrip } from '../text/python-text.ts';
import { assistantText, refuse, refuseRole, textOf } from './refusals.ts';
import { refuseThinking, refuseTools } from './refuse-parts.ts';

const NAME = 'gemma3';

export function gemma3Format(): ChatFormat {
  return {
    name: NAME,
    stops: ['<end_of_turn>', '<eos>'],
    marks: [],
    write({ messages, tools, ending }) {
      refuseTools(NAME, tools, messages);
      const writer = new SegmentWriter().format('<bos>');
      const [first] = messages;
      const start = first?.role === 'system' ? 1 : 0;
      messages.forEach((message, index) => {
        if (index < start) return;
        checkRole(message, index - start);
        writer.origin = index;
        writer.format(`<start_of_turn>${message.role === 'assistant' ? 'model' : 'user'}\n`);
        if (index === start && first !== undefined && start === 1) writer.content(textOf(NAME, first)).format('\n\n');
        if (message.role === 'assistant') refuseThinking(NAME, message);
        const text = message.role === 'assistant' ? assistantText(NAME, message) : textOf(NAME, message);
        writer.content(pythonStrip(text)).format('<end_of_turn>\n');
      });
      if (messages.length <= start && start === 1) {
        throw refuse(NAME, 'has a system text only before a question', 'Add a user message.');
      }
      writer.origin = 'prompt';
      if (ending === 'prompt') writer.format('<start_of_turn>model\n');
      return writer.segments;
    },
    read: ({ pieces }) => ({ role: 'assistant', content: pythonStrip(piecesText(pieces)) }),
  };
}

function checkRole({ role }: Message, position: number): void {
  if (role === 'developer') throw refuseRole(NAME, role, 'system (first), user and assistant');
  const expected = position % 2 === 0 ? 'user' : 'assistant';
  if (role === expected) return;
  throw refuse(
    NAME,
    `alternates user and assistant: message ${position + 1} after the system text is ${role}, not ${expected}`,
    'Join messages of one side, and say a system text first.',
  );
}
