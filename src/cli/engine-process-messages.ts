// What the process of the engine and the one that serves say to each other: calls of methods by handle, answers, failures and
// tokens as they are drawn. Data only, since nothing else crosses processes.

import { isAbort, TabwrightError, type Boundary, type JsonValue } from '../core/index.ts';
import type { DecodeWeights } from '../engine/index.ts';
import type { ModelFiles } from './model-source.ts';

export type EngineProcessOptions = {
  readonly model: string;
  /** Of a pretrained model. */
  readonly files?: ModelFiles | undefined;
  readonly threads?: number | undefined;
  readonly contextLength?: number | undefined;
  /** How samplers hold weights; see `EmbeddedBackendOptions`. */
  readonly decodeWeights?: DecodeWeights | undefined;
};

/** Handle 0 is the backend; trainers and samplers have those that they were made with. */
export type Call = {
  readonly kind: 'call';
  readonly id: number;
  readonly handle: number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** Tell each token as it is drawn. */
  readonly streams?: boolean;
  /** Tell how much of the prompt the sampler had. */
  readonly tellsPrompt?: boolean;
  /** Texts that end a sample: a function of ids cannot cross. */
  readonly stopTexts?: readonly string[];
};
/** What one turn of the event loop asks for goes over together: the engine would begin with the first alone otherwise. */
export type ToProcess = readonly (Call | { readonly kind: 'abort'; readonly id: number })[];

export type Ready = {
  readonly kind: 'ready';
  readonly vocabSize: number;
  readonly contextLength: number;
  readonly architecture: string;
};
export type Made = { readonly handle: number; readonly version: number };
/** Likewise: what ends together is told together. */
export type FromProcess = readonly Told[];
export type Told =
  | Ready
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** `step` of the trainer that was called. */
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown; readonly step?: number }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: Failure }
  | { readonly kind: 'prompt'; readonly id: number; readonly reused: number }
  | {
      readonly kind: 'token';
      readonly id: number;
      readonly sample: number;
      readonly token: number;
      readonly logprob: number;
    };

type Failure = {
  readonly message: string;
  readonly abort: boolean;
  readonly stack?: string | undefined;
  readonly own?: {
    readonly boundary: Boundary;
    readonly code: string;
    readonly details: { readonly [key: string]: JsonValue };
    readonly retryable: boolean;
  };
};

export function packFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? error.stack : undefined;
  if (!(error instanceof TabwrightError)) return { message, abort: isAbort(error), stack };
  const { boundary, code, details, retryable } = error;
  return { message, abort: false, stack, own: { boundary, code, details, retryable } };
}

export function unpackFailure({ message, abort, stack, own }: Failure): Error {
  if (own !== undefined) return new TabwrightError(own.boundary, message, own);
  if (abort) return new DOMException(message, 'AbortError');
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
