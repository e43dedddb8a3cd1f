// Calls that wait when the engine becomes free are served together, in batches that a plan makes of them. Knows
// nothing of what a call asks for.

export type Call<Request> = { readonly request: Request; readonly signal: AbortSignal | undefined };

type Waiting<Request, Result> = Call<Request> & {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
};

export type CallQueueOptions<Request, Batch, Result> = {
  /** Distributes requests over batches; every request is in exactly one. */
  readonly plan: (requests: readonly Request[]) => readonly Batch[];
  /** Results of the calls of one batch, in their order; what is given for an aborted call is not read. */
  readonly serve: (batch: Batch, calls: readonly Call<Request>[]) => Promise<readonly Result[]>;
};

export class CallQueue<Request, Batch extends { readonly requests: readonly number[] }, Result> {
  readonly #options: CallQueueOptions<Request, Batch, Result>;
  readonly #waiting: Waiting<Request, Result>[] = [];
  #running: Promise<void> | undefined;

  constructor(options: CallQueueOptions<Request, Batch, Result>) {
    this.#options = options;
  }

  add(request: Request, signal: AbortSignal | undefined): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, signal, resolve, reject });
      this.#running ??= this.#drain();
    });
  }

  /** Resolves when every call made so far has been answered. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #drain(): Promise<void> {
    // One turn of the event loop, so that calls made together are served together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const calls = this.#waiting.splice(0);
      for (const batch of this.#options.plan(calls.map(({ request }) => request))) {
        const members = batch.requests.map((i) => calls[i]);
        try {
          const abandoned = members.every(({ signal }) => signal?.aborted);
          const results = abandoned ? [] : await this.#options.serve(batch, members);
          members.forEach(({ signal, resolve, reject }, i) => {
            if (signal?.aborted) reject(signal.reason);
            else resolve(results[i]);
          });
        } catch (error) {
          for (const { reject } of members) reject(error);
        }
      }
    }
    this.#running = undefined;
  }
}
