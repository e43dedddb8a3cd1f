// `tabwright baseline`: policies without a model are evaluated, the table written, and the margin of a change decided by the
// paired difference; files of evaluations do as well.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-baseline-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('evaluates, writes the table, and says whether a challenger clears the margin', { timeout: 900_000 }, async () => {
  const [own, table] = [join(folder, 'own'), join(folder, 'baselines.md')];
  const models = ['scripted:noop', 'scripted:oracle'];
  const { code, stdout, stderr } = await runCli(
    [
      ...['baseline', ...models, '--env', 'click-checkboxes', '--episodes', '40', '--pages', '4'],
      ...['--folder', own, '--table', table],
    ],
    { timeoutS: 800 },
  );
  expect(code, stderr).toBe(0);
  const written = await readFile(table, 'utf8');
  expect(stdout.startsWith(written.trimEnd())).toBe(true);
  const rows = written.trim().split('\n');
  expect(rows[0]).toMatch(/^\| policy \| renderer \| success \| 95 % interval \|.*\| date \|$/);
  expect(rows.slice(2).map((row) => row.split(' | ')[0])).toEqual(models.map((name) => `| \`${name}\``));
  expect(rows[3]).toContain('100.0');
  // One pair always differs: Hoeffding's half width on 40 pairs in [-1, 1] is 0.43.
  expect(stdout).toMatch(/scripted:oracle clears the switching margin: \+100\.0\Wpts .* on 40 instances/);

  // What is there is not played again: another number of episodes would be another evaluation.
  const noop = ['baseline', models[0], '--env', 'click-checkboxes', '--pages', '4', '--folder', own];
  const again = await runCli([...noop, '--episodes', '40'], { timeoutS: 300 });
  expect([again.code, again.stdout.trimEnd().split('\n').at(-1)], again.stderr).toEqual([0, rows[2]]);
  expect((await runCli([...noop, '--episodes', '41'], { timeoutS: 300 })).stderr).toMatch(/could not be evaluated/);

  const files = [join(own, '0-scripted-noop.json'), join(own, '1-scripted-oracle.json')];
  const demanding = await runCli(['baseline', ...files, '--margin', '0.9']);
  expect(demanding.code, demanding.stderr).toBe(0);
  expect(demanding.stdout).toMatch(/scripted:oracle does not clear the switching margin: .* needed above \+90\.0/);
});
