// What a chat model's reply means: one call is an action, a text without a call is the answer, everything else is
// malformed and says why. Nothing here throws: whatever a model says is data.

import type { Action, ChatReply, JsonObject } from '../core/index.ts';

/** Deeper nesting is refused: whoever writes or checks arguments later goes down with them, and must not run out of stack. */
const MAX_DEPTH = 100;

export function readReply({ text, calls }: ChatReply, stop: 'stop' | 'length'): Action {
  const malformed = (problem: string): Action => ({ kind: 'malformed', problem, text: said({ text, calls }) });
  if (calls.length > 1)
    return malformed(`there are ${calls.length} calls in one reply; make one, and wait for its result`);
  const [call] = calls;
  if (call !== undefined) {
    const args = parseObject(call.arguments);
    if (args !== undefined) return { kind: 'call', tool: call.name, args };
    return malformed(
      stop === 'length'
        ? 'the call was cut off, because the reply was too long'
        : `the arguments of the call are no JSON object, or one nested deeper than ${MAX_DEPTH}`,
    );
  }
  if (stop === 'length') return malformed('the reply was cut off before there was a call, because it was too long');
  if (text.trim() === '') return malformed('the reply is empty');
  return { kind: 'answer', text };
}

/** Undefined where it is none, or nested too deeply. */
export function parseObject(text: string): JsonObject | undefined {
  if (nestsDeeperThan(text, MAX_DEPTH)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** By the brackets outside of strings. */
function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at++;
      else if (character === '"') quoted = false;
    } else if (character === '"') {
      quoted = true;
    } else if (character === '{' || character === '[') {
      if (++depth > limit) return true;
    } else if (character === '}' || character === ']') {
      depth--;
    }
  }
  return false;
}

function said({ text, calls }: ChatReply): string {
  return [text, ...calls.map(({ name, arguments: given }) => `${name}(${given})`)]
    .filter((part) => part !== '')
    .join('\n');
}
