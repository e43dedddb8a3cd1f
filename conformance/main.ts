// `npm run conformance`: the peers' real clients and servers against ours. Prints every case and, last, the line
// `N passed, N failed`; ends with code 1 if anything failed. A part that could not run is a failed case; only under
// --quick a part whose Python environment cannot be made here is a line that says why.
//   --quick        what continuous integration has time for
//   --only a,b     parts whose name starts with one of these
// The Python environments and compile caches lie in TABWRIGHT_CONFORMANCE_DIR (default: node_modules/.cache).

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { createContext } from './context.ts';
import { PARTS } from './parts.ts';
import { describeError, Report } from './report.ts';
import { EnvironmentUnavailable } from './venvs.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

const print = (line: string): void => console.log(line);
const root = resolve(import.meta.dirname, '..');
const cache = resolve(
  process.env['TABWRIGHT_CONFORMANCE_DIR'] ?? join(root, 'node_modules', '.cache', 'tabwright-conformance'),
);
const logs = join(cache, 'logs');
await mkdir(logs, { recursive: true });
const work = await mkdtemp(join(tmpdir(), 'tabwright-conformance-'));
const report = new Report(print);
const context = createContext({ report, cache, work, logs, print });

const wanted = values.only?.split(',');
const parts = PARTS.filter(({ name, quick }) =>
  wanted === undefined ? quick || !values.quick : wanted.some((prefix) => name.startsWith(prefix)),
);
if (parts.length === 0)
  throw new Error(`no part is called ${values.only}: ${PARTS.map(({ name }) => name).join(', ')}`);

for (const { name, run } of parts) {
  const started = performance.now();
  try {
    await run(context);
  } catch (error) {
    // Where no environment can be had the quick run, which is part of every check-in, says so and goes on.
    if (values.quick && error instanceof EnvironmentUnavailable) print(`skip ${name}: ${describeError(error)}`);
    else report.add({ part: name, name: 'runs', passed: false, detail: describeError(error) });
  }
  print(`-- ${name}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

if (values.keep) print(`kept: ${work}`);
else await rm(work, { recursive: true, force: true });
const failures = report.cases.filter((one) => !one.passed);
if (failures.length > 0) print(`\nFailed:\n${failures.map((one) => `  ${one.part} > ${one.name}`).join('\n')}`);
print(report.summary());
process.exitCode = failures.length > 0 ? 1 : 0;
