// What formats share: reading the text of a message, the arguments of a call, and refusing by name what a format cannot
// say. Where an author's template drops something without a word, the format here refuses it instead.

import { contentText, TabwrightError, type Message, type ToolCall } from '../../core/index.ts';
import { readJson, type JsonObjectText } from '../text/json-text.ts';

/** A conversation that a format cannot say. */
export function refuse(format: string, what: string, remedy: string): TabwrightError {
  return new TabwrightError('policy', `The format ${format} ${what}. ${remedy}`, {
    code: 'not-in-format',
    details: { format },
  });
}

/** The text of a message; several parts of text are joined, as if they had been one. */
export function textOf(format: string, message: Message): string {
  const text = contentText(message.content);
  if (text === undefined) throw refuse(format, `has no pictures (a ${message.role} message has one)`, 'Send text.');
  return text;
}

/** Text of an assistant's turn; calls that could not be read are part of it, as the text that they were. */
export function assistantText(format: string, message: Extract<Message, { role: 'assistant' }>): string {
  const malformed = (message.malformedCalls ?? []).map(({ text }) => text);
  return [textOf(format, message), ...malformed].filter((text) => text !== '').join('\n');
}

export function refuseRole(format: string, role: string, roles: string): TabwrightError {
  return refuse(format, `has no role ${role}`, `It has ${roles}.`);
}

/** The arguments of a call as JSON that keeps its number literals. */
export function argumentsOf(format: string, call: ToolCall): JsonObjectText {
  const reading = readJson(call.arguments);
  if ('node' in reading && reading.node.kind === 'object') return reading.node;
  const problem = 'problem' in reading ? reading.problem : 'it is no object';
  throw new TabwrightError(
    'policy',
    `The arguments of a call of ${call.name} are no JSON object (${problem}): ${call.arguments.slice(0, 200)}`,
    { code: 'arguments-unreadable', details: { format, tool: call.name } },
  );
}
