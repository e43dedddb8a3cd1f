// The quickstart as a process in a real Chromium, small: what it leaves behind, that Ctrl-C keeps what is complete,
// that going on gives the result of an uninterrupted run, and that no browser survives any end.

import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportSchema, type Report } from '../../src/experiments/index.ts';
import { readRun } from '../../src/store/index.ts';
import { runCli } from './run-cli.ts';
import { mountSmallDisk } from './small-disk.ts';

const SMALL = [
  ...['--eval-episodes', '16', '--collect-episodes', '48', '--pages', '4', '--pictures', '2'],
  ...['--grpo.steps', '3', '--grpo.groups', '4', '--grpo.group-size', '4', '--sft.epochs', '1'],
];
const TIMEOUT = 240_000;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-quickstart-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function readReport(dir: string): Promise<Report> {
  return reportSchema.parse(JSON.parse(await readFile(join(dir, 'report.json'), 'utf8')));
}

/** What must be the same in two runs of one seed: everything but times and the machine's state. */
function figures({ stages, comparisons, seeds }: Report): unknown {
  return { stages, comparisons, seeds };
}

/** Command lines of Chromium processes that `pid` or its children started. */
function browsersOf(pid: number): string[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).trim().split('\n');
  const found: string[] = [];
  const family = new Set([pid]);
  for (let grown = true; grown;) {
    grown = false;
    for (const row of rows) {
      const [own, parent] = row.trim().split(/\s+/).map(Number) as [number, number];
      if (!family.has(parent) || family.has(own)) continue;
      family.add(own);
      grown = true;
      if (/--remote-debugging-pipe/.test(row)) found.push(row);
    }
  }
  return found;
}

function profilesLeft(marker: readonly string[]): string[] {
  const profiles = marker.flatMap((row) => /--user-data-dir=(\S+)/.exec(row)?.slice(1) ?? []);
  const rows = execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' }).split('\n');
  return rows.filter((row) => !row.trim().startsWith('Z') && profiles.some((profile) => row.includes(profile)));
}

describe('the quickstart', () => {
  let whole: Report;

  it(
    'ends with a report that holds three stages, their comparisons and where it was measured',
    { timeout: TIMEOUT },
    async () => {
      const out = join(folder, 'whole');
      const result = await runCli(['quickstart', ...SMALL, '--seed', '3', '--out', out], { timeoutS: 200 });
      expect(result.code, result.stderr).toBe(0);
      expect(result.stdout).toContain(join(out, 'report.html'));
      whole = await readReport(out);
      expect(whole.stages.map(({ name, episodes }) => [name, episodes])).toEqual([
        ['base', 16],
        ['sft', 16],
        ['grpo', 16],
      ]);
      expect(whole.comparisons.length).toBeGreaterThanOrEqual(2);
      expect(Number(whole.machine['peakTotalMB'])).toBeGreaterThan(100);
      const html = await readFile(join(out, 'report.html'), 'utf8');
      expect(html).toContain('data:image/png;base64,');
      const run = await readRun(out);
      const steps = (await run.readMetrics()).filter(({ stage }) => stage === 'grpo');
      expect(steps).toHaveLength(3);
      for (const row of steps) {
        // Steps without a mixed group make no update and have no mismatch to log.
        if (row['optim/updates'] === 0) continue;
        expect(Math.abs(Number(row['optim/kl_sample_train_v1']))).toBeLessThan(1e-4);
        expect(Number(row['optim/logprob_diff_max'])).toBeLessThan(1e-4);
      }
    },
  );

  it('gives the same figures when it is stopped by Ctrl-C and gone on with', { timeout: TIMEOUT }, async () => {
    const out = join(folder, 'stopped');
    const args = ['quickstart', ...SMALL, '--seed', '3', '--out', out];
    let browsers: string[] = [];
    let sent = false;
    const first = await runCli(args, {
      timeoutS: 200,
      onStderr: (text, kill, pid) => {
        if (sent || !/Training online/.test(text)) return;
        sent = true;
        browsers = browsersOf(pid);
        kill('SIGINT');
      },
    });
    expect(sent).toBe(true);
    expect(first.code).toBe(130);
    const command = ['quickstart', ...SMALL, '--seed', '3', '--out', out, '--resume'].join(' ');
    expect(first.stderr).toContain(`Stopped; the run is in ${out}. Go on with:\n  npm run tabwright -- ${command}\n`);
    expect(browsers.length).toBeGreaterThan(0);
    expect(profilesLeft(browsers)).toEqual([]);
    await expect(readReport(out)).rejects.toThrow();
    // Fewer pages at once: what a machine that was too slow needs, and no other result.
    const second = await runCli([...args, '--resume', '--pages', '3'], { timeoutS: 200 });
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).not.toContain('begun by another program');
    expect(figures(await readReport(out))).toEqual(figures(whole));
  });

  it(
    'stops in one line on a full disk, keeps what is complete, and goes on to the same figures when there is room',
    { timeout: 3 * TIMEOUT },
    async ({ skip }) => {
      using disk = mountSmallDisk(48);
      if (disk === undefined) return skip('only a root that may mount has a disk to fill');
      const out = join(disk.path, 'run');
      const args = ['quickstart', ...SMALL, '--seed', '3', '--out', out];
      // In kilobytes, and where the disk is full then.
      const disks: [number, RegExp][] = [
        [48, /^error: Cannot write \S+\/run\/rollouts\/.*ENOSPC/m],
        [300, /^error: Cannot write \S+\/run\/rollouts\/.*ENOSPC/m],
        [6_000, /^error: The checkpoint \S+ could not be written \(ENOSPC\)/m],
      ];
      const kept = new Map<string, string>();
      for (const [kilobytes, message] of disks) {
        disk.resize(kilobytes);
        let browsers: string[] = [];
        const { code, stderr } = await runCli(kilobytes === 48 ? args : [...args, '--resume'], {
          timeoutS: 200,
          onStderr: (_text, _kill, pid) => {
            if (browsers.length === 0) browsers = browsersOf(pid);
          },
        });
        expect(code, stderr).toBe(1);
        expect(stderr).toMatch(message);
        expect(stderr.match(/^error/gm)).toHaveLength(1);
        expect(browsers.length).toBeGreaterThan(0);
        expect(profilesLeft(browsers)).toEqual([]);
        for (const name of await (await readRun(out)).listRollouts()) {
          const file = join(out, 'rollouts', `${name}.jsonl`);
          const content = await readFile(file, 'utf8');
          expect(content).toBe(kept.get(file) ?? content);
          kept.set(file, content);
        }
      }
      expect(kept.size).toBe(2);
      disk.resize(100_000);
      const last = await runCli([...args, '--resume'], { timeoutS: 200 });
      expect(last.code, last.stderr).toBe(0);
      expect(figures(await readReport(out))).toEqual(figures(whole));
      for (const [file, content] of kept) expect(await readFile(file, 'utf8')).toBe(content);
    },
  );

  it('leaves no browser behind when it is killed', { timeout: TIMEOUT }, async () => {
    let browsers: string[] = [];
    await runCli(['quickstart', ...SMALL, '--out', join(folder, 'killed')], {
      onStderr: (text, kill, pid) => {
        if (browsers.length > 0 || !/Evaluating/.test(text)) return;
        browsers = browsersOf(pid);
        kill('SIGKILL');
      },
    });
    expect(browsers.length).toBeGreaterThan(0);
    await expect.poll(() => profilesLeft(browsers), { timeout: 5000 }).toEqual([]);
  });

  it('refuses to go on with other settings, naming them', async () => {
    const out = join(folder, 'whole');
    const result = await runCli(['quickstart', ...SMALL, '--seed', '4', '--out', out, '--resume']);
    expect(result.code).not.toBe(0);
    expect(result.stderr).toMatch(/seed was 3 and is now 4/);
  });
});
