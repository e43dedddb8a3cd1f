// The one error class of the project: every failure belongs to one boundary, so that an infrastructure
// failure can never be mistaken for a bad answer of the policy. Messages are for people; code reads `code`.

import type { JsonValue } from './json.ts';

/** The part of the system whose contract broke. */
export type Boundary = 'browser' | 'env' | 'policy' | 'judge' | 'backend' | 'store' | 'config';

export type TabwrightErrorOptions = {
  /** Stable, machine-readable name of the failure in kebab-case, e.g. `chromium-not-found`. */
  readonly code: string;
  /** The values that the message mentions, for programs. */
  readonly details?: { readonly [key: string]: JsonValue };
  /** Whether trying the same operation again may help. Default false. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
};

/** A failure with an owner. The message says what happened, with which value, and what to do. */
export class TabwrightError extends Error {
  override readonly name = 'TabwrightError';
  readonly boundary: Boundary;
  readonly code: string;
  readonly details: { readonly [key: string]: JsonValue };
  readonly retryable: boolean;

  constructor(boundary: Boundary, message: string, options: TabwrightErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.boundary = boundary;
    this.code = options.code;
    this.details = options.details ?? {};
    this.retryable = options.retryable ?? false;
  }
}

/** True for an abort, whoever raised it: those are never converted into episode data. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
