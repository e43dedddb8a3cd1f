// What was thrown, as the text and the stack that the answer carries. Anything can be thrown, and reading it may run
// the cell's code once more, which may throw as well.

import { inspect } from 'node:util';
import { LIMITS, truncateToBytes } from './limits.ts';
import { withoutOwnFrames } from './own-frames.ts';

export type ErrorText = { readonly error: string; readonly stack?: string; readonly truncated: boolean };

export function describeError(thrown: unknown): ErrorText {
  let error: string;
  let stack: string | undefined;
  try {
    error = headline(thrown);
    stack = stackOf(thrown);
  } catch {
    error = 'an error that cannot be shown: reading it throws';
  }
  const shown = truncateToBytes(error, LIMITS.errorBytes);
  const shownStack = stack === undefined ? undefined : truncateToBytes(stack, LIMITS.stackBytes);
  return {
    error: shown,
    ...(shownStack === undefined ? {} : { stack: shownStack }),
    truncated: shown !== error || shownStack !== stack,
  };
}

function headline(thrown: unknown): string {
  if (!isErrorLike(thrown)) return typeof thrown === 'string' ? thrown : inspect(thrown);
  const { name, message } = thrown;
  return message === '' ? name : `${name}: ${message}`;
}

function stackOf(thrown: unknown): string | undefined {
  return isErrorLike(thrown) && typeof thrown.stack === 'string' ? withoutOwnFrames(thrown.stack) : undefined;
}

/** Errors of any realm, and what Node and libraries throw in their place (`DOMException` is no native error). */
function isErrorLike(thrown: unknown): thrown is { name: string; message: string; stack?: unknown } {
  if (typeof thrown !== 'object' || thrown === null) return false;
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  return typeof name === 'string' && typeof message === 'string';
}
