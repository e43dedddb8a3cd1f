// The section of docs/guide/suites.md on agent_auth: its figures, its families, and its command as a person runs it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { agentAuthTasks, describeAgentAuth } from '../../src/envs/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { probe } from '../sandbox/jail.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-auth-cli-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const section = /## `agent_auth`[^]*?(?=\n## |$)/.exec(readFileSync('docs/guide/suites.md', 'utf8'))![0];

test('the guide has the figures of the suite and its families, each in its half', () => {
  const { tasks, train, test: held, blind } = describeAgentAuth();
  expect(section).toContain(`${tasks} generated sites`);
  expect(section).toContain(`(${(blind! * 100).toFixed(1)} %)`);
  for (const [split, count] of [
    ['train', train],
    ['test', held],
  ] as const) {
    const row = new RegExp(`\\| ${split} \\(${count}\\) \\|(.*)\\|`).exec(section)![1];
    const families = new Set(
      agentAuthTasks()
        .filter((task) => task.split === split)
        .map(({ group }) => group),
    );
    expect([...row.matchAll(/`([\w-]+)`/g)].map(([, name]) => name).sort()).toEqual([...families].sort());
  }
});

test(
  'the command of the guide plays four tasks, and the list has the suite with its figures',
  { timeout: 600_000 },
  async () => {
    const list = await runCli(['suite', 'list', '--json']);
    expect((JSON.parse(list.stdout) as { suites: readonly object[] }).suites).toContainEqual(describeAgentAuth());
    const command = /npm run tabwright -- (eval [^\n]*)/.exec(section)![1];
    const output = join(folder, 'evaluation.json');
    const more = ['--out', join(folder, 'run'), '--output', output, ...(probe.available ? [] : ['--unsafe-local'])];
    const { code, stderr } = await runCli([...command.split(' '), ...more], { timeoutS: 400 });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(readFileSync(output, 'utf8'))).toMatchObject({
      summary: { episodes: 4, valid: 4, successes: 4 },
    });
  },
);
