// Requests for samples that come one by one over HTTP but were meant together: each is held until no other has come for a
// moment, so that the engine gets them at once and reads them as one batch. What a request gets does not depend on it.

export type ArrivalsOptions = {
  /** Milliseconds without another one after which all start. */
  readonly quietMs: number;
  /** The same while fewer have come than started together last time: whoever asks in a round mostly asks as many again. */
  readonly patientMs: number;
  /** Longest that the first of them is held. */
  readonly mostMs: number;
};

export class Arrivals {
  readonly #options: ArrivalsOptions;
  #held: (() => void)[] = [];
  #lastCount = 0;
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
      this.#wait(Math.min(this.#options.quietMs, this.#options.mostMs));
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
    const { quietMs, patientMs, mostMs } = this.#options;
    const quiet = this.#held.length < this.#lastCount ? patientMs : quietMs;
    const left = Math.min(this.#lastAt + quiet, this.#firstAt + mostMs) - performance.now();
    if (left > 0) this.#wait(left);
    else this.#start();
  }

  #start(): void {
    clearTimeout(this.#timer);
    const held = this.#held;
    this.#lastCount = held.length;
    this.#held = [];
    for (const start of held) start();
  }
}
