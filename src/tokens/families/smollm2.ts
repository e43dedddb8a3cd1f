// SmolLM2: plain ChatML with a default system text. Its template ignores tools and calls, so they are refused here; see
// tool-prompt.ts. Reference: the authors' chat template.

import type { ChatFormat } from '../chat-format.ts';
import { piecesText } from '../reply.ts';
import { SegmentWriter } from '../segments.ts';
import { assistantText, refuseRole, textOf } from './refusals.ts';
import { refuseThinking, refuseTools } from './refuse-parts.ts';

const NAME = 'smollm2';
const DEFAULT_SYSTEM = 'You are a helpful AI assistant named SmolLM, trained by Hugging Face';

export function smollm2Format(): ChatFormat {
  return {
    name: NAME,
    stops: ['<|im_end|>', '<|endoftext|>'],
    marks: [],
    write({ messages, tools, ending }) {
      refuseTools(NAME, tools, messages);
      const writer = new SegmentWriter();
      if (messages.length > 0 && messages[0]?.role !== 'system') {
        writer.format(`<|im_start|>system\n${DEFAULT_SYSTEM}<|im_end|>\n`);
      }
      messages.forEach((message, index) => {
        if (message.role === 'developer') throw refuseRole(NAME, message.role, 'system, user and assistant');
        if (message.role === 'assistant') refuseThinking(NAME, message);
        const text = message.role === 'assistant' ? assistantText(NAME, message) : textOf(NAME, message);
        writer.origin = index;
        writer.format(`<|im_start|>${message.role}\n`).content(text).format('<|im_end|>\n');
      });
      writer.origin = 'prompt';
      if (ending === 'prompt') writer.format('<|im_start|>assistant\n');
      return writer.segments;
    },
    read: ({ pieces }) => ({ role: 'assistant', content: piecesText(pieces) }),
  };
}
