// Our own prompt convention for models whose template has no tools (SmolLM2, Gemma 3, Llama 3.0): tools are declared in the
// system text, a call is a block of JSON in the assistant's text, results come as the user. It is nobody's standard: what
// uses it carries `+tool-prompt` in its name. Version 1; a change of any word here is a new version.

import { contentText, type AssistantMessage, type Message, type ToolSpec } from '../core/index.ts';
import type { ChatFormat, FormatInput } from './chat-format.ts';
import { assembleMessage, readJsonCall } from './families/json-calls.ts';
import { argumentsOf, refuse } from './families/refusals.ts';
import { readSections } from './reply.ts';
import { toJsonText, writeJson } from './text/json-text.ts';

export const TOOL_PROMPT_SUFFIX = '+tool-prompt';

function toolPrompt(tools: readonly ToolSpec[]): string {
  const lines = tools.map(({ name, description, parameters }) =>
    writeJson(toJsonText({ name, description, parameters })),
  );
  return (
    `You can call these tools:\n${lines.join('\n')}\n\nTo call one, reply with nothing but\n<tool_call>\n` +
    '{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}\n</tool_call>\nand wait for its result.'
  );
}

/** The same format with tools; conversations without any are unchanged. */
export function withToolPrompt(format: ChatFormat): ChatFormat {
  const name = `${format.name}${TOOL_PROMPT_SUFFIX}`;
  return {
    ...format,
    name,
    marks: [...format.marks, '<tool_call>', '</tool_call>'],
    write: (input) => {
      const { messages, origins } = withoutTools(name, input);
      return format.write({ messages, tools: [], ending: input.ending }).map((segment) => ({
        ...segment,
        origin: typeof segment.origin === 'number' ? (origins[segment.origin] ?? 'format') : segment.origin,
      }));
    },
    read: (reply) =>
      assembleMessage(readSections(reply.pieces), {
        readCall: (text) => readJsonCall(text),
        thinking: (text) => text,
        content: (text) => text.trim(),
      }),
  };
}

type Plain = { readonly messages: readonly Message[]; readonly origins: readonly (number | 'format')[] };

/** The conversation in text alone; neighbours of the user's side become one message, since turns may have to alternate. */
function withoutTools(name: string, { messages, tools }: FormatInput): Plain {
  const result: { message: Message; origin: number | 'format' }[] = [];
  const [first] = messages;
  const hasSystem = first?.role === 'system';
  if (tools.length > 0) {
    const own = hasSystem ? plainText(name, first) : '';
    const content = own === '' ? toolPrompt(tools) : `${own}\n\n${toolPrompt(tools)}`;
    result.push({ message: { role: 'system', content }, origin: hasSystem ? 0 : 'format' });
  }
  messages.forEach((message, index) => {
    if (index === 0 && hasSystem && tools.length > 0) return;
    if (message.role === 'assistant') {
      result.push({ message: { role: 'assistant', content: said(name, message) }, origin: index });
      return;
    }
    if (message.role !== 'tool' && message.role !== 'user') {
      result.push({ message, origin: index });
      return;
    }
    const own = plainText(name, message);
    const text = message.role === 'user' ? own : `<tool_response>\n${own}\n</tool_response>`;
    const last = result.at(-1);
    if (messages[index - 1]?.role === 'tool' && last?.message.role === 'user') {
      last.message = { role: 'user', content: `${plainText(name, last.message)}\n${text}` };
    } else result.push({ message: { role: 'user', content: text }, origin: index });
  });
  return { messages: result.map(({ message }) => message), origins: result.map(({ origin }) => origin) };
}

function said(name: string, message: AssistantMessage): string {
  if ((message.thinking ?? '') !== '') {
    throw refuse(name, 'has no thinking', 'Leave the thinking of earlier turns out.');
  }
  const calls = (message.toolCalls ?? []).map(
    (call) =>
      `<tool_call>\n{"name": ${JSON.stringify(call.name)}, "arguments": ${writeJson(argumentsOf(name, call))}}\n</tool_call>`,
  );
  const malformed = (message.malformedCalls ?? []).map(({ text }) => text);
  return [plainText(name, message), ...malformed, ...calls].filter((text) => text !== '').join('\n');
}

function plainText(name: string, message: Message): string {
  const text = contentText(message.content);
  if (text === undefined) throw refuse(name, 'has no pictures', 'Send text.');
  return text;
}
