// Nemotron 3 Nano, Super and Ultra: ChatML that always has a system block, tools as tags, calls as tags. The three differ
// in white space around thinking and in how effort is asked for. References: the authors' chat templates.

import type { AssistantMessage, JsonObject, Message, ToolSpec } from '../../core/index.ts';
import { isJsonObject } from '../../core/index.ts';
import type { ChatFormat, FormatInput } from '../chat-format.ts';
import { readSections } from '../reply.ts';
import { SegmentWriter } from '../segments.ts';
import { toJsonText, writeJson } from '../text/json-text.ts';
import { pythonStr, pythonStrip } from '../text/python-text.ts';
import { assembleMessage } from './json-calls.ts';
import { assistantText, refuse, textOf } from './refusals.ts';
import { readXmlCall, writeXmlCall } from './xml-calls.ts';
import { XML_TOOLS_HEAD, XML_TOOLS_TAIL } from './xml-tools.ts';

export type NemotronVariant = {
  readonly name: string;
  readonly model: 'nano' | 'super' | 'ultra';
  readonly thinks: boolean;
  /** Turns before the last question keep their thinking (`truncate_history_thinking=false`). */
  readonly preserves: boolean;
  /** Appended to the last question. */
  readonly effort?: string;
};

const NANO = { name: 'nemotron3-nano', model: 'nano', thinks: true, preserves: false } as const;
const SUPER = { name: 'nemotron3-super', model: 'super', thinks: true, preserves: false } as const;
const ULTRA = { name: 'nemotron3-ultra', model: 'ultra', thinks: true, preserves: false } as const;

export const NEMOTRON_VARIANTS: readonly NemotronVariant[] = [
  ...[NANO, SUPER, ULTRA].flatMap((base) => [
    base,
    { ...base, name: `${base.name}+no-thinking`, thinks: false },
    { ...base, name: `${base.name}+preserve-thinking`, preserves: true },
  ]),
  { ...SUPER, name: 'nemotron3-super+low-effort', effort: '\n\n{reasoning effort: low}' },
  { ...ULTRA, name: 'nemotron3-ultra+medium-effort', effort: '\n\n{reasoning effort: efficient}' },
];

export function nemotronFormat(variant: NemotronVariant): ChatFormat {
  return {
    name: variant.name,
    stops: ['<|im_end|>'],
    marks: ['<think>', '</think>', '<tool_call>', '</tool_call>'],
    opening: variant.thinks ? [{ mark: '<think>', text: '<think>' }, { text: '\n' }] : [],
    write: (input) => writeNemotron(variant, input),
    read: ({ pieces }, tools) =>
      assembleMessage(readSections(pieces), {
        readCall: (text) => readXmlCall(text, tools),
        thinking: pythonStrip,
        content: pythonStrip,
      }),
  };
}

function writeNemotron(variant: NemotronVariant, { messages, tools, ending }: FormatInput): SegmentWriter['segments'] {
  const { name } = variant;
  const writer = new SegmentWriter();
  const [first] = messages;
  const system = first?.role === 'system' ? textOf(name, first) : '';
  writer.origin = first?.role === 'system' ? 0 : 'format';
  writer.format('<|im_start|>system\n').content(system);
  if (tools.length > 0) {
    writer.format(system === '' ? '' : '\n\n').format(XML_TOOLS_HEAD);
    for (const tool of tools) writeDeclaration(writer, tool);
    writer.format(XML_TOOLS_TAIL);
  }
  writer.format('<|im_end|>\n');
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  messages.forEach((message, index) => {
    writer.origin = index;
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        if (index === 0 && message.role === 'system') break;
        writer.format(`<|im_start|>${message.role}\n`).content(textOf(name, message));
        writer.format(`${index === lastUser ? (variant.effort ?? '') : ''}<|im_end|>\n`);
        break;
      case 'assistant':
        writeAssistant(writer, variant, message, variant.preserves || index >= lastUser);
        break;
      case 'tool':
        writeResult(writer, name, messages, index, message);
        break;
    }
  });
  writer.origin = 'prompt';
  if (ending === 'prompt') writer.format(`<|im_start|>assistant\n${variant.thinks ? '<think>\n' : '<think></think>'}`);
  return writer.segments;
}

function writeResult(
  writer: SegmentWriter,
  format: string,
  messages: readonly Message[],
  index: number,
  message: Message,
): void {
  const before = messages[index - 1];
  if (before === undefined || (index === 1 && before.role === 'system')) {
    throw refuse(format, 'cannot begin with a result', 'A result follows the call that it answers.');
  }
  if (before.role !== 'tool') writer.format('<|im_start|>user\n');
  writer.format('<tool_response>\n').content(textOf(format, message)).format('\n</tool_response>\n');
  if (messages[index + 1]?.role !== 'tool') writer.format('<|im_end|>\n');
}

function writeAssistant(
  writer: SegmentWriter,
  variant: NemotronVariant,
  message: AssistantMessage,
  keepsThinking: boolean,
): void {
  const calls = message.toolCalls ?? [];
  writer.format('<|im_start|>assistant\n');
  if (keepsThinking) writeWhole(writer, variant, message);
  else writeWithoutThinking(writer, variant, message);
  if (calls.length > 0) writer.format('\n');
  for (const call of calls) {
    writeXmlCall(writer, { format: variant.name, call, scalars: 'python' });
    writer.format('\n');
  }
  writer.format('<|im_end|>\n');
}

/** Thinking that is blank counts as none, as in the template. */
function thinkingOf(message: AssistantMessage): string | undefined {
  return message.thinking === undefined || pythonStrip(message.thinking) === '' ? undefined : message.thinking;
}

function hasMarks(text: string): boolean {
  return text.includes('<think>') || text.includes('</think>');
}

/** The template trims what it put together: with a block in front, that is the end of the text. */
function stripEnd(text: string): string {
  return pythonStrip(`.${text}`).slice(1);
}

function writeWhole(writer: SegmentWriter, variant: NemotronVariant, message: AssistantMessage): void {
  const text = assistantText(variant.name, message);
  const thinking = thinkingOf(message);
  if (thinking !== undefined) {
    const end = variant.model === 'ultra' ? '</think>' : '\n</think>';
    const body = stripEnd(`${variant.model === 'ultra' ? '' : '\n'}${text}`);
    writer.format('<think>\n').content(thinking).format(end).content(body);
  } else if (hasMarks(text)) writer.content(pythonStrip(text));
  else writer.format('<think></think>').content(stripEnd(text));
}

function writeWithoutThinking(writer: SegmentWriter, variant: NemotronVariant, message: AssistantMessage): void {
  const text = assistantText(variant.name, message);
  const hasCalls = (message.toolCalls ?? []).length > 0;
  const thinking = thinkingOf(message);
  let rest = text;
  if (text.includes('</think>')) rest = text.split('</think>').at(-1) ?? '';
  else if (thinking !== undefined) rest = variant.model === 'ultra' ? text : `\n${text}`;
  else if (text.includes('<think>')) {
    // Opened and never closed: with calls the template cuts it off, without it leaves the text alone.
    if (!hasCalls) {
      writer.content(pythonStrip(text));
      return;
    }
    rest = text.split('<think>')[0] ?? '';
  }
  if (!hasCalls && thinking === undefined && text.includes('</think>') && !text.includes('<think>')) {
    writer.content(pythonStrip(text));
    return;
  }
  if (!hasCalls) rest = stripEnd(rest);
  else if (variant.model !== 'ultra') rest = pythonStrip(rest);
  writer.format('<think></think>').content(rest);
}

function writeDeclaration(writer: SegmentWriter, { name, description, parameters }: ToolSpec): void {
  const tag = (key: string, value: string): void => {
    writer.format('\n<').content(key).format('>').content(value).format('</').content(key).format('>');
  };
  const extra = (object: JsonObject, handled: readonly string[]): void => {
    for (const [key, value] of Object.entries(object)) {
      if (handled.includes(key)) continue;
      const node = toJsonText(value);
      tag(key, node.kind === 'object' || node.kind === 'array' ? writeJson(node) : pythonStr(node));
    }
  };
  writer.format('\n<function>');
  tag('name', name);
  tag('description', pythonStrip(description));
  writer.format('\n<parameters>');
  if (isJsonObject(parameters.properties)) {
    for (const [key, fields] of Object.entries(parameters.properties)) {
      writer.format('\n<parameter>');
      tag('name', key);
      if (isJsonObject(fields)) {
        if (fields.type !== undefined) tag('type', pythonStr(toJsonText(fields.type)));
        if (typeof fields.description === 'string') tag('description', pythonStrip(fields.description));
        if (fields.enum !== undefined) tag('enum', writeJson(toJsonText(fields.enum)));
        extra(fields, ['name', 'type', 'description', 'enum']);
      }
      writer.format('\n</parameter>');
    }
  }
  extra(parameters, ['type', 'properties', 'required']);
  if (parameters.required !== undefined) tag('required', writeJson(toJsonText(parameters.required)));
  writer.format('\n</parameters>\n</function>');
}
