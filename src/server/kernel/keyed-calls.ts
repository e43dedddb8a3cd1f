// Calls that carry a key are made once: whoever comes with the same key gets the first call's answer, or waits for it.
// For cells, whose effects a retry would repeat. Keys of one browser; they go with it.

import { onAbort } from '../../util/index.ts';

export type Answer = { readonly status: number; readonly body: string };

export interface KeyedCalls extends Disposable {
  /** `call` gets a signal that outlives a caller who hangs up by `KEEP_RUNNING_MS`. Without a key, the caller's own. */
  run(key: string | undefined, signal: AbortSignal, call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer>;
}

const KEEP_RUNNING_MS = 10_000;
const KEEP_ANSWER_MS = 10 * 60_000;
/** Answers beyond this go before their time, oldest first. */
const KEEP_BYTES = 64 * 1024 * 1024;
/** Answers that leave their key free: the call was not made. */
const UNMADE: readonly number[] = [400, 409, 429];

type Entry = {
  readonly answer: Promise<Answer>;
  callers: number;
  readonly stop: () => void;
  timer: NodeJS.Timeout | undefined;
  settled: boolean;
  bytes: number;
};

export function createKeyedCalls(): KeyedCalls {
  const entries = new Map<string, Entry>();

  const forget = (key: string, entry: Entry): void => {
    clearTimeout(entry.timer);
    if (entries.get(key) === entry) entries.delete(key);
  };
  const trim = (): void => {
    let bytes = 0;
    for (const [key, entry] of [...entries].reverse()) {
      bytes += entry.bytes;
      if (bytes > KEEP_BYTES && entry.settled) forget(key, entry);
    }
  };
  const begin = (key: string, call: (signal: AbortSignal) => Promise<Answer>): Entry => {
    const controller = new AbortController();
    const entry: Entry = {
      answer: call(controller.signal),
      callers: 0,
      stop: () => controller.abort(new Error('The callers have hung up.')),
      timer: undefined,
      settled: false,
      bytes: 0,
    };
    entries.set(key, entry);
    entry.answer.then(
      ({ status, body }) => {
        clearTimeout(entry.timer);
        if (UNMADE.includes(status) || controller.signal.aborted) {
          forget(key, entry);
          return;
        }
        entry.settled = true;
        entry.bytes = Buffer.byteLength(body);
        entry.timer = setTimeout(() => forget(key, entry), KEEP_ANSWER_MS).unref();
        trim();
      },
      () => forget(key, entry),
    );
    return entry;
  };

  return {
    async run(key, signal, call) {
      if (key === undefined) return call(signal);
      const entry = entries.get(key) ?? begin(key, call);
      if (entry.settled) return entry.answer;
      clearTimeout(entry.timer);
      entry.callers++;
      const off = onAbort(signal, () => {
        entry.callers--;
        if (entry.callers === 0 && !entry.settled) entry.timer = setTimeout(entry.stop, KEEP_RUNNING_MS).unref();
      });
      try {
        return await entry.answer;
      } finally {
        off();
      }
    },
    [Symbol.dispose]() {
      for (const [key, entry] of entries) {
        entry.stop();
        forget(key, entry);
      }
    },
  };
}
