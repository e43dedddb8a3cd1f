// What the server answers when it cannot do what was asked: a status, a code and a sentence. Never a stack trace, and
// of a fault of ours no more than that it is one.

import { isAbort, TabwrightError } from '../../core/index.ts';

export type FailureStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 429 | 500 | 503;

/** Codes that say whose fault it was; every other code is one of ours. */
const STATUS: Readonly<Record<string, FailureStatus>> = {
  'bad-request': 400,
  'cell-empty': 400,
  'cell-timeout': 400,
  'cell-too-large': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'body-too-large': 413,
  'not-json': 415,
  'limit-reached': 429,
  'shutting-down': 503,
};

export function failure(code: keyof typeof STATUS, message: string): TabwrightError {
  return new TabwrightError('env', message, { code });
}

export type Failure = {
  readonly status: FailureStatus;
  readonly body: { readonly code: string; readonly message: string };
};

export function describeFailure(error: unknown): Failure {
  if (error instanceof TabwrightError) {
    const { code, message } = error;
    return { status: STATUS[code] ?? 500, body: { code: code.replaceAll('-', '_'), message } };
  }
  const message = isAbort(error) ? 'The request was given up.' : 'The server failed; its own output says more.';
  return { status: 500, body: { code: 'internal_error', message } };
}
