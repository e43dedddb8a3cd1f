// Llama 3, 3.1 and 3.2: header blocks. 3.0 has neither tools nor a system text of its own; 3.1 and 3.2 write dates, take
// tools into the first question and know one call a turn. References: the authors' chat templates. Built-in tools are left out.

import type { AssistantMessage, Message, ToolSpec } from '../../core/index.ts';
import type { ChatFormat, FormatInput } from '../chat-format.ts';
import { piecesText, type Reply } from '../reply.ts';
import { SegmentWriter } from '../segments.ts';
import { writeJson } from '../text/json-text.ts';
import { pythonStrip } from '../text/python-text.ts';
import { readJsonCall } from './json-calls.ts';
import { argumentsOf, assistantText, refuse, refuseRole, textOf } from './refusals.ts';
import { refuseThinking, refuseTools } from './refuse-parts.ts';
import { toolDeclaration } from './tool-declaration.ts';

export type LlamaVariant = {
  readonly name: string;
  readonly tools: 'none' | 'user' | 'system';
};

export const LLAMA_VARIANTS: readonly LlamaVariant[] = [
  { name: 'llama3', tools: 'none' },
  { name: 'llama3.1', tools: 'user' },
  { name: 'llama3.1+tools-in-system', tools: 'system' },
  { name: 'llama3.2', tools: 'user' },
  { name: 'llama3.2+tools-in-system', tools: 'system' },
];

/** What 3.1's template says without a date; 3.2's would say today, which no run could repeat. */
const DEFAULT_DATE = '26 Jul 2024';

const TOOLS_IN_SYSTEM =
  'You have access to the following functions. To call a function, please respond with JSON for a function call.' +
  'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.' +
  'Do not use variables.\n\n';
const TOOLS_IN_USER =
  'Given the following functions, please respond with a JSON for a function call with its proper arguments that best ' +
  'answers the given prompt.\n\n' +
  'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.' +
  'Do not use variables.\n\n';

/** `date` as `26 Jul 2024`. */
export function llamaFormat(variant: LlamaVariant, date: string = DEFAULT_DATE): ChatFormat {
  return {
    name: variant.name,
    stops: ['<|eot_id|>', '<|eom_id|>', '<|end_of_text|>'],
    marks: ['<|python_tag|>'],
    write: (input) => (variant.tools === 'none' ? writePlain(variant, input) : writeLlama(variant, date, input)),
    read: (reply, tools) => readLlama(reply, variant.tools === 'none' ? [] : tools),
  };
}

function header(role: string): string {
  return `<|start_header_id|>${role}<|end_header_id|>\n\n`;
}

function writeBlock(writer: SegmentWriter, role: string, text: string): void {
  writer.format(header(role)).content(pythonStrip(text)).format('<|eot_id|>');
}

function writePlain({ name }: LlamaVariant, { messages, tools, ending }: FormatInput): SegmentWriter['segments'] {
  const writer = new SegmentWriter().format('<|begin_of_text|>');
  refuseTools(name, tools, messages);
  messages.forEach((message, index) => {
    writer.origin = index;
    if (message.role === 'developer') throw refuseRole(name, message.role, 'system, user and assistant');
    if (message.role === 'assistant') refuseThinking(name, message);
    writeBlock(
      writer,
      message.role,
      message.role === 'assistant' ? assistantText(name, message) : textOf(name, message),
    );
  });
  writer.origin = 'prompt';
  if (ending === 'prompt') writer.format(header('assistant'));
  return writer.segments;
}

function writeLlama(variant: LlamaVariant, date: string, input: FormatInput): SegmentWriter['segments'] {
  const { name } = variant;
  const { messages, tools, ending } = input;
  const writer = new SegmentWriter().format('<|begin_of_text|>');
  const [first] = messages;
  const start = first?.role === 'system' ? 1 : 0;
  writer.origin = start === 1 ? 0 : 'format';
  writer.format(header('system')).format(tools.length > 0 ? 'Environment: ipython\n' : '');
  writer.format(`Cutting Knowledge Date: December 2023\nToday Date: ${date}\n\n`);
  if (tools.length > 0 && variant.tools === 'system') writeTools(writer, TOOLS_IN_SYSTEM, tools);
  if (first?.role === 'system') writer.content(pythonStrip(textOf(name, first)));
  writer.format('<|eot_id|>');
  const takesTools = tools.length > 0 && variant.tools === 'user';
  if (takesTools && messages[start]?.role !== 'user') {
    throw refuse(
      name,
      'declares tools in the first question',
      'Begin with a user message, after the system text if any.',
    );
  }
  messages.forEach((message, index) => {
    if (index < start) return;
    writer.origin = index;
    writer.format(header(roleOf(name, message)));
    if (takesTools && index === start) writeTools(writer, TOOLS_IN_USER, tools);
    if (message.role === 'assistant') writeAssistant(writer, name, message);
    else if (message.role === 'tool') writer.content(JSON.stringify(textOf(name, message)));
    else writer.content(pythonStrip(textOf(name, message)));
    writer.format('<|eot_id|>');
  });
  writer.origin = 'prompt';
  if (ending === 'prompt') writer.format(header('assistant'));
  return writer.segments;
}

function roleOf(format: string, { role }: Message): string {
  if (role === 'developer') throw refuseRole(format, role, 'system, user, assistant and tool');
  return role === 'tool' ? 'ipython' : role;
}

function writeTools(writer: SegmentWriter, preamble: string, tools: readonly ToolSpec[]): void {
  writer.format(preamble);
  for (const tool of tools) {
    writer.content(writeJson(toolDeclaration(tool), { indent: 4 })).format('\n\n');
  }
}

function writeAssistant(writer: SegmentWriter, format: string, message: AssistantMessage): void {
  refuseThinking(format, message);
  const text = pythonStrip(assistantText(format, message));
  const [call, ...others] = message.toolCalls ?? [];
  if (call === undefined) {
    writer.content(text);
    return;
  }
  if (others.length > 0) {
    throw refuse(format, `has one call a turn, this one has ${others.length + 1}`, 'Make them in turns of their own.');
  }
  if (text !== '') throw refuse(format, 'has no text beside a call', 'Leave the content of a turn with a call empty.');
  writer.format('{"name": "').content(call.name).format('", "parameters": ');
  writer.content(writeJson(argumentsOf(format, call))).format('}');
}

/** A turn is a call when it is nothing but one: JSON with a name, or anything after the tag for programs. */
function readLlama({ pieces }: Reply, tools: readonly ToolSpec[]): AssistantMessage {
  const tagged = pieces.findIndex(({ mark }) => mark === '<|python_tag|>');
  const text = pythonStrip(piecesText(tagged < 0 ? pieces : pieces.slice(tagged + 1)));
  if (tagged < 0 && (tools.length === 0 || !/^\{\s*"(?:name|parameters)"/.test(text))) {
    return { role: 'assistant', content: text };
  }
  const before = tagged < 0 ? '' : pythonStrip(piecesText(pieces.slice(0, tagged)));
  const reading = readJsonCall(text, 'parameters');
  return 'call' in reading
    ? { role: 'assistant', content: before, toolCalls: [reading.call] }
    : { role: 'assistant', content: before, malformedCalls: [reading.malformed] };
}

/** `26 Jul 2024` of an ISO date. */
export function llamaDate(isoDate: string): string {
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  const [year = '', month = '', day = ''] = isoDate.split('-');
  return `${day} ${months[Number(month) - 1] ?? month} ${year}`;
}
