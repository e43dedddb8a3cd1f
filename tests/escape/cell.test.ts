// Escape attempts from the cell's side: the worst code that a model could write, in a jailed Node without any language
// sandbox around it. Zero may succeed. Most are made outside of the jail too, where they must succeed.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createScratchFolder, jailNode } from '../../src/sandbox/index.ts';
import { noJail, runProgramInJail, whyNot } from '../sandbox/jail.ts';
import { CELL_ATTEMPTS, PRELUDE, type CellAttempt } from './cell-attempts.ts';
import { createHost, type Host, type Targets } from './targets.ts';

/** What each attempt came to: `escaped`, or the failure. */
type Results = Readonly<Record<string, string>>;

/** Lies in a file, because a command line can be read by the attempts themselves. */
function program(targets: Targets, attempts: readonly CellAttempt[]): string {
  return `${PRELUDE}
    const t = ${JSON.stringify(targets)};
    const attempts = { ${attempts.map(({ name, code }) => `${JSON.stringify(name)}: async () => ${code}`).join(',\n')} };
    (async () => {
      const results = {};
      for (const [name, attempt] of Object.entries(attempts)) {
        try {
          const got = await attempt();
          results[name] = got === true || String(got).includes(t.secret) ? 'escaped' : 'got ' + String(got).slice(0, 100);
        } catch (error) {
          results[name] = String(error?.code ?? '') + ' ' + String(error?.message).slice(0, 100);
        }
      }
      fs.writeSync(1, JSON.stringify(results));
      process.exit();
    })();
  `;
}

describe.skipIf(noJail)(`escape attempts from a cell${whyNot}`, () => {
  let host: Host;
  let inside: Results;
  let outside: Results;
  beforeAll(async () => {
    host = await createHost();
    using scratch = createScratchFolder();
    writeFileSync(join(scratch.folder, 'attempts.cjs'), program(host.targets, CELL_ATTEMPTS));
    const node = jailNode();
    const run = await runProgramInJail({
      command: node.command,
      args: ['/tmp/attempts.cjs'],
      readOnly: node.readOnly,
      scratch,
    });
    if (run.stdout === '') throw new Error(`the attempts did not run: ${run.stderr}`);
    inside = JSON.parse(run.stdout) as Results;
    const harmless = CELL_ATTEMPTS.filter(({ control }) => control);
    const file = join(host.targets.folder, 'attempts.cjs');
    writeFileSync(file, program(host.targets, harmless));
    outside = JSON.parse((await promisify(execFile)(process.execPath, [file])).stdout) as Results;
  });
  afterAll(() => host[Symbol.asyncDispose]());

  test.each(CELL_ATTEMPTS)('$name', ({ name, control }) => {
    expect(inside[name]).toBeDefined();
    expect(inside[name]).not.toBe('escaped');
    if (control) expect(outside[name]).toBe('escaped');
  });

  test('leave the host as it was', () => expect(host.damage()).toEqual([]));
});
