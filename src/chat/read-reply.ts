// What a chat model's reply means: one call is an action, a text without a call is the answer, everything else is
// malformed and says why. Nothing here throws: whatever a model says is data.

import { z } from 'zod';
import type { Action, ChatReply, JsonObject } from '../core/index.ts';

const objectSchema = z.record(z.string(), z.json());

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
        : 'the arguments of the call are no JSON object',
    );
  }
  if (stop === 'length') return malformed('the reply was cut off before there was a call, because it was too long');
  if (text.trim() === '') return malformed('the reply is empty');
  return { kind: 'answer', text };
}

/** Undefined where it is none. */
export function parseObject(text: string): JsonObject | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    return undefined;
  }
  const parsed = objectSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

function said({ text, calls }: ChatReply): string {
  return [text, ...calls.map(({ name, arguments: given }) => `${name}(${given})`)]
    .filter((part) => part !== '')
    .join('\n');
}
