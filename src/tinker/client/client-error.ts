// Failures of the client as TabwrightErrors of the boundary `backend`. Their details carry what a server said about the
// failure: status, category, request id. Nothing of a request is quoted, since its headers hold the key.

import { TabwrightError, type JsonValue } from '../../core/index.ts';

export type ServerWords = {
  readonly status?: number | undefined;
  /** Whose fault the server says it is: `user`, `server` or `unknown`. */
  readonly category?: string | undefined;
  readonly requestId?: string | undefined;
  readonly path?: string | undefined;
};

type ClientErrorOptions = ServerWords & {
  readonly code: string;
  readonly retryable?: boolean;
  readonly cause?: unknown;
};

export function clientError(message: string, options: ClientErrorOptions): TabwrightError {
  const { code, retryable = false, cause, ...words } = options;
  const details: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(words)) if (value !== undefined) details[name] = value;
  return new TabwrightError('backend', message, {
    code,
    retryable,
    details,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A status that is final, with the server's own words. */
export function refusal(status: number, path: string, text: string): TabwrightError {
  const said = text === '' ? '' : `: ${text}`;
  if (status === 401 || status === 403) {
    return clientError(`The Tinker server does not accept the key for ${path} (${status})${said}`, {
      code: 'tinker-unauthorized',
      status,
      path,
    });
  }
  if (status === 402) {
    return clientError(`The Tinker account cannot pay for ${path} (402)${said}`, {
      code: 'tinker-billing',
      status,
      path,
    });
  }
  const code =
    status === 404 || status === 405 ? 'tinker-not-found' : status === 409 ? 'tinker-conflict' : 'tinker-refused';
  return clientError(`The Tinker server refused ${path} (${status})${said}`, { code, status, path });
}

export function unavailable(status: number, path: string, text: string): TabwrightError {
  return clientError(`The Tinker server could not answer ${path} (${status})${text === '' ? '' : `: ${text}`}`, {
    code: 'tinker-unavailable',
    status,
    path,
    retryable: true,
  });
}

export function isTinkerError(error: unknown, ...codes: readonly string[]): error is TabwrightError {
  return error instanceof TabwrightError && codes.includes(error.code);
}

/** True for servers that do not know the request: an older generation, or another implementation. */
export function isUnknownEndpoint(error: unknown): boolean {
  return isTinkerError(error, 'tinker-not-found');
}
