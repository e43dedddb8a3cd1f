// One test run for everything: unit tests beside the sources, the rest under tests/. Two workers, because a test
// may hold a Chromium or the engine, and more of them than processors makes every deadline a matter of luck.

import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './scripts/summary-reporter.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    exclude: ['**/fixtures/**', '**/node_modules/**'],
    pool: 'forks',
    maxWorkers: 2,
    // Two thousand tests, many with a Chromium of their own that may crash by itself. Who passes only then is named at the end.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', new SummaryReporter()],
  },
});
