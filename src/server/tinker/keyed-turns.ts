// Work on one thing at a time: whoever asks for the same key waits for those before it, other keys go on beside it.

export class KeyedTurns {
  /** The end of the last piece of work of each key that has any. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Keys that somebody works on. */
  get size(): number {
    return this.#last.size;
  }

  /** Runs `work` when everything asked for before it with this key has ended, however it ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const turn = before.then(work);
    const end = turn.catch(() => undefined); // the caller hears of it
    this.#last.set(key, end);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === end) this.#last.delete(key);
    }
  }
}
