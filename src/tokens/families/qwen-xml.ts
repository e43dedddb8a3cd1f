// Qwen3.5 and Qwen3.6: ChatML with tools before the system text and calls as tags. The two differ in how scalars are
// spelled and in `preserve_thinking`, which only 3.6 knows. References: the authors' chat templates.

import type { AssistantMessage, Message } from '../../core/index.ts';
import type { ChatFormat, FormatInput } from '../chat-format.ts';
import { readSections } from '../reply.ts';
import { SegmentWriter } from '../segments.ts';
import { writeJson } from '../text/json-text.ts';
import { pythonStrip } from '../text/python-text.ts';
import { assembleMessage } from './json-calls.ts';
import { assistantText, refuse, refuseRole, textOf } from './refusals.ts';
import { splitThinking } from './thinking.ts';
import { toolDeclaration } from './tool-declaration.ts';
import { readXmlCall, writeXmlCall, type ScalarSpelling } from './xml-calls.ts';
import { XML_TOOLS_HEAD, XML_TOOLS_TAIL } from './xml-tools.ts';

export type QwenXmlVariant = {
  readonly name: string;
  readonly scalars: ScalarSpelling;
  readonly thinks: boolean;
  /** Every turn of the past keeps its block of thinking. */
  readonly preserves: boolean;
};

export const QWEN_XML_VARIANTS: readonly QwenXmlVariant[] = [
  { name: 'qwen3.5', scalars: 'python', thinks: true, preserves: false },
  { name: 'qwen3.5+no-thinking', scalars: 'python', thinks: false, preserves: false },
  { name: 'qwen3.6', scalars: 'json', thinks: true, preserves: false },
  { name: 'qwen3.6+no-thinking', scalars: 'json', thinks: false, preserves: false },
  { name: 'qwen3.6+preserve-thinking', scalars: 'json', thinks: true, preserves: true },
  { name: 'qwen3.6+no-thinking+preserve-thinking', scalars: 'json', thinks: false, preserves: true },
];

export function qwenXmlFormat(variant: QwenXmlVariant): ChatFormat {
  return {
    name: variant.name,
    stops: ['<|im_end|>', '<|endoftext|>'],
    marks: ['<think>', '</think>', '<tool_call>', '</tool_call>'],
    opening: variant.thinks ? [{ mark: '<think>', text: '<think>' }, { text: '\n' }] : [],
    write: (input) => writeQwenXml(variant, input),
    read: ({ pieces }, tools) =>
      assembleMessage(readSections(pieces), {
        readCall: (text) => readXmlCall(text, tools),
        thinking: pythonStrip,
        content: pythonStrip,
      }),
  };
}

function writeQwenXml(variant: QwenXmlVariant, { messages, tools, ending }: FormatInput): SegmentWriter['segments'] {
  const { name } = variant;
  const writer = new SegmentWriter();
  const text = (message: Message): string => pythonStrip(textOf(name, message));
  const [first] = messages;
  if (first?.role === 'system' || tools.length > 0) {
    writer.origin = first?.role === 'system' ? 0 : 'format';
    const system = first?.role === 'system' ? text(first) : '';
    writer.format('<|im_start|>system\n');
    if (tools.length > 0) {
      writer.format(XML_TOOLS_HEAD);
      for (const tool of tools) writer.format('\n').content(writeJson(toolDeclaration(tool)));
      writer.format(XML_TOOLS_TAIL).format(system === '' ? '' : '\n\n');
    }
    writer.content(system).format('<|im_end|>\n');
  }
  const lastQuery = messages.findLastIndex((message) => message.role === 'user' && !isToolResponse(text(message)));
  if (lastQuery < 0) throw refuse(name, 'needs a question of the user', 'Put a user message into the conversation.');
  messages.forEach((message, index) => {
    writer.origin = index;
    switch (message.role) {
      case 'system':
        if (index > 0) throw refuse(name, 'has a system message only at the beginning', 'Say it as the user.');
        break;
      case 'user':
        writer.format('<|im_start|>user\n').content(text(message)).format('<|im_end|>\n');
        break;
      case 'assistant':
        writeAssistant(writer, variant, message, variant.preserves || index > lastQuery);
        break;
      case 'tool':
        if (index === 0) throw refuse(name, 'cannot begin with a result', 'A result follows the call that it answers.');
        if (messages[index - 1]?.role !== 'tool') writer.format('<|im_start|>user');
        writer.format('\n<tool_response>\n').content(text(message)).format('\n</tool_response>');
        if (messages[index + 1]?.role !== 'tool') writer.format('<|im_end|>\n');
        break;
      case 'developer':
        throw refuseRole(name, 'developer', 'system, user, assistant and tool');
    }
  });
  writer.origin = 'prompt';
  if (ending === 'prompt') {
    writer.format(`<|im_start|>assistant\n${variant.thinks ? '<think>\n' : '<think>\n\n</think>\n\n'}`);
  }
  return writer.segments;
}

function isToolResponse(text: string): boolean {
  return text.startsWith('<tool_response>') && text.endsWith('</tool_response>');
}

function writeAssistant(
  writer: SegmentWriter,
  variant: QwenXmlVariant,
  message: AssistantMessage,
  framed: boolean,
): void {
  const said = pythonStrip(assistantText(variant.name, message));
  const { thinking, content } = splitThinking(message.thinking, said);
  writer.format('<|im_start|>assistant\n');
  if (framed) writer.format('<think>\n').content(pythonStrip(thinking)).format('\n</think>\n\n');
  writer.content(content);
  (message.toolCalls ?? []).forEach((call, index) => {
    if (index > 0) writer.format('\n');
    else if (pythonStrip(content) !== '') writer.format('\n\n');
    writeXmlCall(writer, { format: variant.name, call, scalars: variant.scalars });
  });
  writer.format('<|im_end|>\n');
}
