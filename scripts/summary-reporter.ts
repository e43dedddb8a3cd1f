// A vitest reporter whose last line is that of the run: `N passed, N failed`. Before it stand, by name, the tests that
// passed only when tried again, so that a retry hides nothing. A file that does not
// load, a hook that throws and an unhandled error count as one failure each, so that the line cannot look better
// than the run was.

import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

export type Tally = { readonly passed: number; readonly failed: number };

/** Counts tests, and everything that broke outside of one. */
export function tally(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Tally {
  let passed = 0;
  let failed = unhandled.length;
  for (const module of modules) {
    failed += module.errors().length;
    for (const suite of module.children.allSuites()) failed += suite.errors().length;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed') passed++;
      if (state === 'failed') failed++;
    }
  }
  return { passed, failed };
}

export class SummaryReporter implements Reporter {
  #last: Tally = { passed: 0, failed: 0 };
  #unsteady: readonly string[] = [];

  onInit(): void {
    // Other reporters print after the run as well; only the end of the process comes after all of them.
    process.once('exit', () => {
      for (const name of this.#unsteady) process.stdout.write(`passed at the second try: ${name}\n`);
      process.stdout.write(`${this.#last.passed} passed, ${this.#last.failed} failed\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    this.#last = tally(modules, unhandled);
    this.#unsteady = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => `${module.moduleId} > ${test.fullName}`),
    );
  }
}
