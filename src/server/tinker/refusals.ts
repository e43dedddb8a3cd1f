// How the server says no. A request that cannot be taken is refused with a status and a JSON body; what was taken and
// failed is a result like any other, with the category that Tinker's clients act on. Never a stack trace.

import { isAbort, TabwrightError } from '../../core/index.ts';

export type RefusalStatus = 400 | 401 | 403 | 404 | 410 | 413 | 415 | 429 | 500 | 503;

/** Never 409: clients of Tinker's API retry that for minutes. */
const STATUS = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  gone: 410,
  'body-too-large': 413,
  'unsupported-body': 415,
  'too-busy': 429,
  'shutting-down': 503,
} as const satisfies Record<string, RefusalStatus>;

export type RefusalCode = keyof typeof STATUS;

export function refusal(code: RefusalCode, message: string): TabwrightError {
  return new TabwrightError('backend', message, { code, retryable: code === 'too-busy' || code === 'shutting-down' });
}

/** What was asked cannot be done however often it is tried; the message names the field and what is possible. */
export function userFault(message: string): TabwrightError {
  return new TabwrightError('backend', message, { code: 'user-fault' });
}

/** Nothing that the caller did. */
export function serverFault(message: string): TabwrightError {
  return new TabwrightError('backend', message, { code: 'server-fault' });
}

export type FailureCategory = 'user' | 'server';
export type FailureBody = { readonly error: string; readonly category: FailureCategory };

/** Codes of the backend's that no request is to blame for. */
const SERVER_CODES: readonly string[] = [
  'server-fault',
  'shutting-down',
  'sampler-closed',
  'trainer-closed',
  'backend-closed',
  'unsendable-message',
];

/** A failure as the result of a future. Complaints about what was given are the user's; everything else is ours. */
export function failureBody(error: unknown): FailureBody {
  if (!(error instanceof TabwrightError)) {
    const message = isAbort(error) ? 'The request was cancelled.' : 'The server failed; its own output says more.';
    return { error: message, category: 'server' };
  }
  const asked = error.boundary === 'backend' || error.boundary === 'config' || error.code === 'checkpoint-mismatch';
  const category = asked && !error.retryable && !SERVER_CODES.includes(error.code) ? 'user' : 'server';
  return { error: error.message, category };
}

/** Codes of the messages' decoders. */
const WIRE_STATUS: Readonly<Record<string, RefusalStatus>> = { 'malformed-message': 400, 'message-too-large': 413 };

export type Refusal = { readonly status: RefusalStatus; readonly body: FailureBody & { readonly detail: string } };

/** A failure as the answer to the request itself. `detail` is where clients of other servers look. */
export function refusalOf(error: unknown): Refusal {
  const { error: message, category } = failureBody(error);
  const code = error instanceof TabwrightError ? error.code : '';
  const known: RefusalStatus | undefined = code in STATUS ? STATUS[code as RefusalCode] : WIRE_STATUS[code];
  const status = known ?? (category === 'user' ? 400 : 500);
  return { status, body: { error: message, detail: message, category: status < 500 ? 'user' : 'server' } };
}
