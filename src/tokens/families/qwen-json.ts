// Qwen2.5 and Qwen3 (hybrid, Instruct-2507, Thinking-2507): ChatML with calls as JSON. References: the authors' chat
// templates, by the sha256 in conformance/renderers. Qwen3.5 and later write calls otherwise, see qwen-xml.ts.

import type { AssistantMessage, Message, ToolMessage, ToolSpec } from '../../core/index.ts';
import type { ChatFormat, FormatInput } from '../chat-format.ts';
import { readSections } from '../reply.ts';
import { SegmentWriter } from '../segments.ts';
import { writeJson } from '../text/json-text.ts';
import { assembleMessage, readJsonCall } from './json-calls.ts';
import { argumentsOf, assistantText, refuseRole, textOf } from './refusals.ts';
import { refuseThinking } from './refuse-parts.ts';
import { splitThinking } from './thinking.ts';
import { toolDeclaration } from './tool-declaration.ts';

export type QwenJsonVariant = {
  readonly name: string;
  /** Written when no system message comes first. */
  readonly defaultSystem?: string;
  /** Whether turns may hold a block of thinking; otherwise `<think>` is just text. */
  readonly thinks: boolean;
  /** What the prompt ends with after the header of the assistant. */
  readonly promptEnd?: string;
};

const QWEN25_SYSTEM = 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.';

export const QWEN_JSON_VARIANTS: readonly QwenJsonVariant[] = [
  { name: 'qwen2.5', defaultSystem: QWEN25_SYSTEM, thinks: false },
  { name: 'qwen3', thinks: true },
  { name: 'qwen3+no-thinking', thinks: true, promptEnd: '<think>\n\n</think>\n\n' },
  { name: 'qwen3-instruct-2507', thinks: false },
  { name: 'qwen3-thinking-2507', thinks: true, promptEnd: '<think>\n' },
];

const TOOLS_HEAD =
  '# Tools\n\nYou may call one or more functions to assist with the user query.\n\n' +
  'You are provided with function signatures within <tools></tools> XML tags:\n<tools>';
const TOOLS_TAIL =
  '\n</tools>\n\nFor each function call, return a json object with function name and arguments within ' +
  '<tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n' +
  '</tool_call>';

export function qwenJsonFormat(variant: QwenJsonVariant): ChatFormat {
  const { name, thinks, promptEnd = '' } = variant;
  const open = promptEnd === '<think>\n';
  return {
    name,
    stops: ['<|im_end|>', '<|endoftext|>'],
    marks: thinks ? ['<think>', '</think>', '<tool_call>', '</tool_call>'] : ['<tool_call>', '</tool_call>'],
    opening: open ? [{ mark: '<think>', text: '<think>' }, { text: '\n' }] : [],
    write: (input) => writeQwenJson(variant, input),
    read: ({ pieces }) =>
      assembleMessage(readSections(pieces), {
        readCall: (text) => readJsonCall(text),
        thinking: (text) => text.replace(/^\n+|\n+$/g, ''),
        content: (text, { beforeCall }) => {
          const own = thinks ? text.replace(/^\n+/, '') : text;
          return beforeCall ? own.replace(/\n$/, '') : own;
        },
      }),
  };
}

function writeQwenJson(variant: QwenJsonVariant, { messages, tools, ending }: FormatInput): SegmentWriter['segments'] {
  const writer = new SegmentWriter();
  const [first] = messages;
  const system = first?.role === 'system' ? textOf(variant.name, first) : variant.defaultSystem;
  if (system !== undefined || tools.length > 0) {
    writer.origin = first?.role === 'system' ? 0 : 'format';
    writer.format('<|im_start|>system\n').content(system ?? '');
    if (tools.length > 0) writeTools(writer.format(system === undefined ? '' : '\n\n'), tools);
    writer.format('<|im_end|>\n');
  }
  const lastQuery = lastQueryIndex(variant, messages);
  messages.forEach((message, index) => {
    writer.origin = index;
    switch (message.role) {
      case 'system':
      case 'user':
        if (message.role === 'system' && index === 0) break;
        writer.format(`<|im_start|>${message.role}\n`).content(textOf(variant.name, message)).format('<|im_end|>\n');
        break;
      case 'assistant':
        writeAssistant(writer, variant, message, {
          framed: variant.thinks && index > lastQuery,
          isLast: index === messages.length - 1,
        });
        break;
      case 'tool':
        writeResult(writer, variant.name, messages, index, message);
        break;
      case 'developer':
        throw refuseRole(variant.name, 'developer', 'system, user, assistant and tool');
    }
  });
  writer.origin = 'prompt';
  if (ending === 'prompt') writer.format(`<|im_start|>assistant\n${variant.promptEnd ?? ''}`);
  return writer.segments;
}

function writeTools(writer: SegmentWriter, tools: readonly ToolSpec[]): void {
  writer.format(TOOLS_HEAD);
  for (const tool of tools) writer.format('\n').content(writeJson(toolDeclaration(tool)));
  writer.format(TOOLS_TAIL);
}

/** Thinking is kept from here on: an open loop of calls keeps what led to them. */
function lastQueryIndex(variant: QwenJsonVariant, messages: readonly Message[]): number {
  const found = messages.findLastIndex((message) => {
    if (message.role !== 'user') return false;
    const text = textOf(variant.name, message);
    return !(text.startsWith('<tool_response>') && text.endsWith('</tool_response>'));
  });
  return found < 0 ? messages.length - 1 : found;
}

function writeAssistant(
  writer: SegmentWriter,
  variant: QwenJsonVariant,
  message: AssistantMessage,
  { framed, isLast }: { readonly framed: boolean; readonly isLast: boolean },
): void {
  if (!variant.thinks) refuseThinking(variant.name, message);
  const said = assistantText(variant.name, message);
  const { thinking, content } = variant.thinks
    ? splitThinking(message.thinking, said)
    : { thinking: '', content: said };
  const calls = message.toolCalls ?? [];
  writer.format('<|im_start|>assistant');
  let text = content;
  if (framed && (isLast || thinking !== '')) {
    text = content.replace(/^\n+/, '');
    writer
      .format('\n<think>\n')
      .content(thinking.replace(/^\n+|\n+$/g, ''))
      .format('\n</think>\n\n')
      .content(text);
  } else writer.format('\n').content(text);
  calls.forEach((call, index) => {
    const before = index > 0 || content !== '' ? '\n' : '';
    writer
      .format(`${before}<tool_call>\n{"name": "`)
      .content(call.name)
      .format('", "arguments": ')
      .content(writeJson(argumentsOf(variant.name, call)))
      .format('}\n</tool_call>');
  });
  writer.format('<|im_end|>\n');
}

/** Results that follow each other share one block of the user. */
function writeResult(
  writer: SegmentWriter,
  format: string,
  messages: readonly Message[],
  index: number,
  message: ToolMessage,
): void {
  if (messages[index - 1]?.role !== 'tool') writer.format('<|im_start|>user');
  writer.format('\n<tool_response>\n').content(textOf(format, message)).format('\n</tool_response>');
  if (messages[index + 1]?.role !== 'tool') writer.format('<|im_end|>\n');
}
