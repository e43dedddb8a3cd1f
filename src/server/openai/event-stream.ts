// Server-sent events from a producer that calls back: what is written waits until the reader takes it, and a reader who
// leaves ends the work.

import { openAiFailure } from './failures.ts';

export type EventStream = {
  readonly body: ReadableStream<Uint8Array>;
  write(event: object): void;
  /** Tells what went wrong once the answer has begun. */
  fail(error: unknown): void;
  /** The last event, and the end. */
  close(): void;
};

const ENCODER = new TextEncoder();

export function createEventStream(onLeave: () => void): EventStream {
  let open = true;
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
    cancel() {
      open = false;
      onLeave();
    },
  });
  const send = (text: string): void => {
    if (open) controller.enqueue(ENCODER.encode(`data: ${text}\n\n`));
  };
  return {
    body,
    write: (event) => send(JSON.stringify(event)),
    fail: (error) => send(JSON.stringify(openAiFailure(error).body)),
    close() {
      send('[DONE]');
      if (open) controller.close();
      open = false;
    },
  };
}
