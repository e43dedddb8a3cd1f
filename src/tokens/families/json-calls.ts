// Calls written as one JSON object in a block, as Qwen2.5, Qwen3 and many others do: `{"name": N, "arguments": A}`. What
// cannot be read comes back with what was wrong, in words that a model can act on.

import type { AssistantMessage, MalformedCall, ToolCall } from '../../core/index.ts';
import type { Sections } from '../reply.ts';
import { readJson, writeJson } from '../text/json-text.ts';

export type CallReading = { readonly call: ToolCall } | { readonly malformed: MalformedCall };

/** `key` is where the arguments are: `arguments`, or `parameters` for Llama. */
export function readJsonCall(text: string, key: string = 'arguments'): CallReading {
  const malformed = (problem: string): CallReading => ({ malformed: { problem, text } });
  const reading = readJson(text.trim());
  if ('problem' in reading) return malformed(`${reading.problem} of a call`);
  if (reading.node.kind !== 'object') return malformed('a call is one JSON object');
  const entries = new Map(reading.node.entries);
  const name = entries.get('name');
  if (name?.kind !== 'string' || name.value === '') return malformed('a call needs "name", a string');
  const given = entries.get(key);
  if (given === undefined) return malformed(`a call needs "${key}", an object`);
  if (given.kind !== 'object') return malformed(`"${key}" of a call must be an object`);
  return { call: { name: name.value, arguments: writeJson(given) } };
}

export const UNCLOSED = 'the call was not closed with </tool_call>';

export type AssembleOptions = {
  readonly readCall: (text: string) => CallReading;
  /** Takes the format's own white space off: the thinking, and text with or without calls after it. */
  readonly thinking: (text: string) => string;
  readonly content: (text: string, position: { readonly beforeCall: boolean }) => string;
};

/** A message of the sections of a reply. */
export function assembleMessage(sections: Sections, options: AssembleOptions): AssistantMessage {
  const toolCalls: ToolCall[] = [];
  const malformedCalls: MalformedCall[] = [];
  for (const { text, closed } of sections.blocks) {
    const reading = closed ? options.readCall(text) : { malformed: { problem: UNCLOSED, text } };
    if ('call' in reading) toolCalls.push(reading.call);
    else malformedCalls.push({ ...reading.malformed, text: `<tool_call>${text}${closed ? '</tool_call>' : ''}` });
  }
  const [first = '', ...others] = sections.texts;
  const content = options.content(first, { beforeCall: sections.blocks.length > 0 });
  // Text between and after calls is no part of any format; it is kept so that nothing said is lost.
  const stray = others.map((text) => text.trim()).filter((text) => text !== '');
  const thinking = sections.thinking === undefined ? '' : options.thinking(sections.thinking);
  return {
    role: 'assistant',
    content: [content, ...stray].filter((text, index) => index === 0 || text !== '').join('\n'),
    ...(thinking === '' ? {} : { thinking }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(malformedCalls.length === 0 ? {} : { malformedCalls }),
  };
}
