// MiniWoB++ on BrowserGym, on Farama's own environment and here: resets, steps, whole episodes, on the same problems, one
// contestant after the other in every round. Writes docs/results/miniwob-speed.{json,md}. Needs Python, Chromium, its headless
// shell and chromedriver; the peers come from PyPI. For an idle machine; it fails when an episode does.
// Usage: npm run bench:miniwob [-- --rounds 3 --seeds 3 --parallel 1,4,16 --python <python of an environment that has the peers>]

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../../src/browser/index.ts';
import { currentCommit, machineFacts } from '../../src/cli/machine.ts';
import { ensureVenv } from '../venvs.ts';
import {
  startContestant,
  type Asked,
  type Contestant,
  type ContestantOptions,
  type Level,
  type PlayedEpisode,
} from './contestant.ts';
import { speedPage, type Failure, type Parallel, type Sample, type Speed } from './table.ts';

const TASKS = ['click-checkboxes', 'click-test-2', 'enter-text', 'login-user', 'click-button'] as const;
/** Whole episodes in parallel are played on these: one of clicks, one of fields. */
const PARALLEL_TASKS = ['click-checkboxes', 'login-user'] as const;

/** Played by every contestant before each of its turns. */
const WARM_MS = 3_000;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seeds: { type: 'string', default: '3' },
    parallel: { type: 'string', default: '1,4,16' },
    python: { type: 'string' },
    out: { type: 'string', default: 'docs/results' },
  },
});
const root = resolve(import.meta.dirname, '..', '..');
const cache = resolve(
  process.env['TABWRIGHT_CONFORMANCE_DIR'] ?? join(root, 'node_modules', '.cache', 'tabwright-conformance'),
);
const python = values.python ?? (await ensureVenv('miniwob-peers', { cache, print: console.error })).python;
const work = mkdtempSync(join(tmpdir(), 'tabwright-miniwob-'));
const pages = execFileSync(python, ['-c', 'import miniwob, os; print(os.path.dirname(miniwob.__file__))'], {
  encoding: 'utf8',
}).trim();

type Kind = 'browsergym' | 'browsergym-fast' | 'farama' | 'ours' | 'ours-reload';

try {
  const rounds = Number(values.rounds);
  const seeds = Array.from({ length: Number(values.seeds) * rounds }, (_, i) => i);
  const samples = await singly(rounds, seeds);
  const parallel: Parallel[] = [];
  const failures: Failure[] = [];
  for (const count of values.parallel
    .split(',')
    .filter((one) => one !== '')
    .map(Number)) {
    await together(count, parallel, failures);
  }
  const speed: Speed = {
    version: 1,
    date: new Date().toISOString().slice(0, 10),
    commit: await currentCommit(),
    machine: machineFacts(),
    browser: await product(),
    tasks: [...TASKS],
    rounds,
    seeds: seeds.length / rounds,
    warmSeconds: WARM_MS / 1000,
    samples,
    parallel,
    failures,
    parallelTasks: [...PARALLEL_TASKS],
  };
  writeFileSync(join(values.out, 'miniwob-speed.json'), `${JSON.stringify(speed, null, 1)}\n`);
  writeFileSync(join(values.out, 'miniwob-speed.md'), speedPage(speed));
  console.log(speedPage(speed));
  // A peer's limits are its own; this side has to get through.
  if (failures.some(({ contestant }) => contestant.startsWith('ours'))) process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** One environment of each, all of them alive, asked in turn. */
async function singly(rounds: number, seeds: readonly number[]): Promise<Sample[]> {
  const samples: Sample[] = [];
  const kinds: readonly Kind[] = ['browsergym', 'browsergym-fast', 'farama', 'ours', 'ours-reload'];
  const contestants = new Map<Kind, Contestant>();
  try {
    for (const kind of kinds) contestants.set(kind, await startContestant(optionsOf(kind, 1)));
    const problems = await contestants.get('browsergym')!.seeds(seeds);
    const each = seeds.length / rounds;
    for (let round = 0; round < rounds; round++) {
      const part = {
        own: seeds.slice(round * each, (round + 1) * each),
        page: problems.slice(round * each, (round + 1) * each),
      };
      for (const task of TASKS) {
        const goals: string[] = [];
        for (const [kind, contestant] of contestants) {
          const asked = kind.startsWith('browsergym') ? part.own : part.page;
          const levels: readonly Level[] = kind === 'ours' ? ['text', 'full'] : ['text'];
          for (const level of levels) {
            await warm(contestant, { operation: 'episodes', task, seeds: asked.slice(0, 1), level });
            const loadBefore = loadavg()[0];
            const resets = await contestant.play({ operation: 'resets', task, seeds: asked, level });
            const whole = await contestant.play({ operation: 'episodes', task, seeds: asked, level });
            checkAll(contestant.name, task, whole.episodes);
            goals.push(JSON.stringify(whole.episodes.map(({ goal }) => goal)));
            samples.push({
              contestant: kind,
              level,
              task,
              round,
              loadBefore,
              resetMs: [...resets.episodes, ...whole.episodes].map(({ resetMs }) => resetMs),
              stepMs: whole.episodes.flatMap(({ stepMs }) => stepMs),
              resetCpuMs: resets.cpuMs / asked.length,
              stepCpuMs:
                (whole.cpuMs - resets.cpuMs) / whole.episodes.reduce((sum, { stepMs }) => sum + stepMs.length, 0),
            });
          }
        }
        if (new Set(goals).size !== 1)
          throw new Error(`${task}: the contestants have other problems: ${goals.join('\n')}`);
        console.error(`round ${round + 1}, ${task}: done, load ${loadavg()[0].toFixed(1)}`);
      }
    }
    return samples;
  } finally {
    for (const contestant of contestants.values()) await contestant[Symbol.asyncDispose]();
  }
}

/**
 * The first episode of a task in a page or environment is not like the rest, nor is any after a minute of the others'
 * turns: programs have to be compiled and caches filled. Each has the same time for that.
 */
async function warm(contestant: Contestant, asked: Asked): Promise<void> {
  const start = performance.now();
  do await contestant.play(asked);
  while (performance.now() - start < WARM_MS);
}

/**
 * As many episodes at a time as `count`: a process an environment for the peers, pages of one browser here. One that does not
 * get through (by its own time limits on a full machine) is a row that says so, and the others have their turns all the same.
 */
async function together(count: number, rows: Parallel[], failures: Failure[]): Promise<void> {
  for (const kind of ['browsergym', 'browsergym-fast', 'farama', 'ours'] as const) {
    for (const level of kind === 'ours' ? (['text', 'full'] as const) : (['text'] as const)) {
      const processes = kind === 'ours' ? 1 : count;
      const contestants: Contestant[] = [];
      const made: Parallel[] = [];
      try {
        for (let i = 0; i < processes; i++) contestants.push(await startContestant(optionsOf(kind, count)));
        // BrowserGym's resets take seconds: few episodes an environment are enough, and many would take hours.
        const each = kind === 'ours' ? 20 : kind === 'farama' ? 5 : 2;
        const seedsOf = (i: number): readonly number[] =>
          Array.from({ length: (each * count) / processes }, (_, k) => i * each + k);
        for (const task of PARALLEL_TASKS) {
          // Every page and environment has had the task once.
          await Promise.all(
            contestants.map((one, i) =>
              one.play({
                operation: 'episodes',
                task,
                seeds: kind === 'ours' ? seedsOf(i).slice(0, count) : [i],
                level,
              }),
            ),
          );
          const loadBefore = loadavg()[0];
          const started = performance.now();
          const played = await Promise.all(
            contestants.map((one, i) => one.play({ operation: 'episodes', task, seeds: seedsOf(i), level })),
          );
          const seconds = (performance.now() - started) / 1000;
          const episodes = played.flatMap((one) => one.episodes);
          checkAll(kind, task, episodes);
          made.push({
            contestant: kind,
            level,
            task,
            count,
            loadBefore,
            seconds,
            episodes: episodes.length,
            steps: episodes.reduce((sum, { stepMs }) => sum + stepMs.length, 0),
            cpuSeconds: played.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000,
          });
          console.error(
            `${count} at once, ${kind} ${level}, ${task}: ${episodes.length} episodes in ${seconds.toFixed(1)} s`,
          );
        }
        rows.push(...made);
      } catch (error) {
        // Where the peers lie on this machine is nobody's business.
        const message = (error as Error).message.replaceAll(/file:\/\/\S*\/miniwob\/html/g, 'file:///…/miniwob/html');
        failures.push({ contestant: kind === 'ours' ? `ours ${level}` : kind, count, message });
        console.error(`${count} at once, ${kind} ${level}: ${message}`);
      } finally {
        for (const contestant of contestants) await contestant[Symbol.asyncDispose]();
      }
    }
  }
}

function checkAll(name: string, task: string, episodes: readonly PlayedEpisode[]): void {
  const failed = episodes.filter(({ success }) => !success);
  if (failed.length > 0)
    throw new Error(`${name}, ${task}: ${failed.length} of ${episodes.length} episodes were not solved`);
}

function optionsOf(kind: Kind, count: number): ContestantOptions {
  if (kind === 'ours' || kind === 'ours-reload') {
    const args = ['--import', 'tsx', join(import.meta.dirname, 'ours.ts'), '--pages', String(count)];
    const reset = kind === 'ours-reload' ? ['--reset', 'reload'] : [];
    return { name: kind, command: process.execPath, args: [...args, ...reset], env: { MINIWOB_DIR: pages } };
  }
  const peer = [join(import.meta.dirname, 'miniwob_peer.py'), kind];
  const env: Record<string, string> =
    kind === 'farama'
      ? { MINIWOB_CHROME_BINARY: which('chromium'), MINIWOB_CHROMEDRIVER: which('chromedriver') }
      : {
          PLAYWRIGHT_BROWSERS_PATH: browsersFolder(kind === 'browsergym' ? 'chromium' : 'chromium-headless-shell'),
          MINIWOB_URL: `file://${pages}/html/miniwob/`,
        };
  return { name: kind, command: python, args: ['-u', ...peer], env };
}

/** Playwright 1.44 takes no path of a browser but this one. */
function browsersFolder(program: string): string {
  const folder = join(work, program);
  const inside = join(folder, 'chromium-1117', 'chrome-linux');
  mkdirSync(inside, { recursive: true });
  try {
    symlinkSync(which(program), join(inside, 'chrome'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return folder;
}

function which(program: string): string {
  return execFileSync('sh', ['-c', 'command -v "$0"', program], { encoding: 'utf8' }).trim();
}

async function product(): Promise<string> {
  await using browser = await launchBrowser({ signal: new AbortController().signal });
  return `${browser.product}, ${browser.mode} mode`;
}
