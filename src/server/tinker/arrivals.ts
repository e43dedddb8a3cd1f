// Requests for samples that come one by one over HTTP but were meant together: each is held until no other has come for a
// moment, so that the engine gets them at once and reads them as one batch. What a request gets does not depend on it.

export type ArrivalsOptions = {
  /** Milliseconds without another one after which all start. */
  readonly quietMs: number;
  /** Longest that the first of them is held. */
  readonly mostMs: number;
};

export class Arrivals {
  readonly #options: ArrivalsOptions;
  #held: (() => void)[] = [];
  #firstAt = 0;
  #lastAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ArrivalsOptions) {
    this.#options = options;
  }

  /** Another one is on its way: its head has come, its body has not. */
  announce(): void {
    this.#lastAt = performance.now();
  }

  /** Resolves when this request and those that came with it may start. */
  join(): Promise<void> {
    this.#lastAt = performance.now();
    if (this.#held.length === 0) {
      this.#firstAt = this.#lastAt;
      this.#wait(this.#options.quietMs);
    }
    return new Promise((resolve) => this.#held.push(resolve));
  }

  [Symbol.dispose](): void {
    this.#start();
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => {
      // A busy event loop runs timers late and before it reads its sockets; what is there already counts as come.
      setImmediate(() => this.#check());
    }, ms);
  }

  #check(): void {
    const { quietMs, mostMs } = this.#options;
    const now = performance.now();
    const left = Math.min(this.#lastAt + quietMs, this.#firstAt + mostMs) - now;
    if (left > 0) this.#wait(left);
    else this.#start();
  }

  #start(): void {
    clearTimeout(this.#timer);
    const held = this.#held;
    this.#held = [];
    for (const start of held) start();
  }
}
