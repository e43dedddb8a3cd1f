// The cases of a run: named, printed as they end, counted for the last line. Not a test framework: a part runs
// straight through and says what it saw; a part that could not run is one failed case that says why.

export type CaseResult = {
  readonly part: string;
  readonly name: string;
  readonly passed: boolean;
  /** What was measured, or why it failed. */
  readonly detail: string;
};

export class Report {
  readonly #cases: CaseResult[] = [];
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  get cases(): readonly CaseResult[] {
    return this.#cases;
  }

  get failed(): number {
    return this.#cases.filter((one) => !one.passed).length;
  }

  add(result: CaseResult): void {
    this.#cases.push(result);
    const detail = result.detail === '' ? '' : `: ${result.detail}`;
    this.#print(`${result.passed ? 'ok  ' : 'FAIL'} ${result.part} > ${result.name}${detail}`);
  }

  /** Runs one case of this process; its result's text, if any, is the detail. */
  async check(part: string, name: string, work: () => Promise<string | void> | string | void): Promise<boolean> {
    try {
      const detail = await work();
      this.add({ part, name, passed: true, detail: detail ?? '' });
      return true;
    } catch (error) {
      this.add({ part, name, passed: false, detail: describeError(error) });
      return false;
    }
  }

  /** `N passed, N failed`, the line that continuous integration reads. */
  summary(): string {
    return `${this.#cases.length - this.failed} passed, ${this.failed} failed`;
  }
}

/** The message, with its causes: the innermost one is usually the one that helps. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : ` (cause: ${describeError(error.cause)})`;
  return `${error.message}${cause}`;
}

/** Throws with `message` unless `condition` holds. */
export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
