// What the clients of one server share: how it is called, the limits it asked for, what it was found not to know. Types.

import type { ClientConfig } from '../wire/index.ts';
import type { ByteBudget } from './budget.ts';
import type { Caller } from './caller.ts';
import type { Futures } from './futures.ts';

export type Shared = {
  readonly caller: Caller;
  readonly futures: Futures;
  readonly sessionId: string;
  readonly config: ClientConfig;
  readonly cancels: boolean;
  readonly trainingBytes: ByteBudget;
  readonly sampleBytes: ByteBudget;
  readonly codec: { current: 'protobuf' | 'json'; readonly fixed: boolean };
  /** Milliseconds of `performance.now` before which no sample is asked for. */
  readonly samplingPause: { until: number };
};
