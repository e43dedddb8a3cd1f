// What a browser step costs: wall-clock of one page at a time (median and p90) and processor time of the whole
// process tree, in every mode that this machine's browsers offer. Not a test: nothing fails here when it is slow.
// Usage: npx tsx bench/browser.ts

import { readdirSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import { locateChromium, type LaunchOptions } from '../src/browser/index.ts';
import type { Episode } from '../src/core/index.ts';
import { createClickCheckboxesEnv, createPuzzle, oracleTarget } from '../src/envs/index.ts';

export type Timing = {
  /** Milliseconds of wall-clock. */
  readonly median: number;
  readonly p90: number;
  /** Processor milliseconds (user and system, this process and the browser's) per operation; NaN without /proc. */
  readonly cpuMs: number;
  readonly samples: number;
};

export type BrowserBench = {
  readonly browser: string;
  readonly mode: 'begin-frame' | 'ordinary';
  /** Trusted click, frames, accessibility tree, verifier's state. */
  readonly step: Timing;
  /** The same and a PNG of the page. */
  readonly stepWithPicture: Timing;
  /** Next puzzle in a page that is already loaded, and its first observation. */
  readonly reset: Timing;
  /** Steps per second with four pages at once. */
  readonly stepsPerSecondFourPages: number;
  /** One-minute load average before the measurement. */
  readonly loadAverage: number;
};

export type BenchBrowserOptions = {
  /** Steps measured per row; default 200. */
  readonly samples?: number;
};

/** One row per mode: the preferred headless shell in both, and a full Chrome where one is installed. */
export async function benchBrowser({ samples = 200 }: BenchBrowserOptions = {}): Promise<readonly BrowserBench[]> {
  const preferred = await locateChromium();
  const chrome = await locateChromium({ prefer: 'chrome' });
  const rows: LaunchOptions[] = [
    ...(preferred.likely === 'headless-shell' ? [{ location: preferred, mode: 'begin-frame' as const }] : []),
    { location: preferred, mode: 'ordinary' },
    ...(chrome.path === preferred.path ? [] : [{ location: chrome, mode: 'ordinary' as const }]),
  ];
  const results: BrowserBench[] = [];
  for (const row of rows) results.push(await benchOne(row, samples));
  return results;
}

/** The rows as a table for people. */
export function describeBrowser(rows: readonly BrowserBench[]): string {
  const line = (name: string, { median, p90, cpuMs, samples }: Timing): string =>
    `  ${name.padEnd(26)} median ${fixed(median)} ms   p90 ${fixed(p90)} ms   cpu ${fixed(cpuMs)} ms   n ${samples}`;
  return rows
    .flatMap((row) => [
      `${row.browser} ${row.mode} (load average ${row.loadAverage.toFixed(2)})`,
      line('step, accessibility tree', row.step),
      line('step, tree and picture', row.stepWithPicture),
      line('reset by page reuse', row.reset),
      `  ${'four pages'.padEnd(26)} ${row.stepsPerSecondFourPages.toFixed(0)} steps/s`,
    ])
    .join('\n');
}

function fixed(value: number): string {
  return value.toFixed(1).padStart(6);
}

async function benchOne(launch: LaunchOptions, samples: number): Promise<BrowserBench> {
  const loadAverage = loadavg()[0];
  const { signal } = new AbortController();
  await using env = await createClickCheckboxesEnv({ browser: launch, pages: 4 });
  const { pid, product, mode } = env.browser;
  let seed = 0;

  /** Plays oracle episodes until `count` steps are done; `measure` wraps what is timed. */
  const play = async (count: number, measure: Measure, kind: 'step' | 'picture' | 'reset'): Promise<void> => {
    const plain: Measure = (work) => work();
    for (let done = 0; done < count;) {
      const task = env.task(seed++);
      const puzzle = createPuzzle(task.seed);
      const open = (): Promise<Episode> => env.open(task, { signal });
      await using episode = await (kind === 'reset' ? measure : plain)(open);
      if (kind === 'reset') done++;
      for (let page = episode.first.page, over = false; !over;) {
        const result = await (kind === 'reset' ? plain : measure)(async () => {
          const args = { target: oracleTarget(puzzle, page) };
          const stepped = await episode.step({ kind: 'call', tool: 'click', args }, { signal });
          if (kind === 'picture') await episode.screenshot({ signal });
          return stepped;
        });
        if (kind !== 'reset') done++;
        page = result.observation.page;
        over = result.outcome !== undefined;
      }
    }
  };

  const timed = async (kind: 'step' | 'picture' | 'reset'): Promise<Timing> => {
    await play(20, (work) => work(), kind); // warm
    const tree = processTree(pid);
    const times: number[] = [];
    let cpu = 0;
    await play(
      samples,
      async (work) => {
        const cpuStart = cpuMs(tree);
        const start = performance.now();
        const result = await work();
        times.push(performance.now() - start);
        cpu += cpuMs(tree) - cpuStart;
        return result;
      },
      kind,
    );
    times.sort((a, b) => a - b);
    return {
      median: times[Math.floor(times.length / 2)],
      p90: times[Math.floor(times.length * 0.9)],
      cpuMs: cpu / times.length,
      samples: times.length,
    };
  };

  const step = await timed('step');
  const stepWithPicture = await timed('picture');
  const reset = await timed('reset');
  const start = performance.now();
  let steps = 0;
  const count: Measure = (work) => (steps++, work());
  await Promise.all([1, 2, 3, 4].map(() => play(samples / 4, count, 'step')));
  const stepsPerSecondFourPages = steps / ((performance.now() - start) / 1000);
  return { browser: product, mode, step, stepWithPicture, reset, stepsPerSecondFourPages, loadAverage };
}

type Measure = <T>(work: () => Promise<T>) => Promise<T>;

/** Process ids of the tree below `root`, itself included; empty without /proc. */
function processTree(root: number): readonly number[] {
  if (process.platform !== 'linux') return [];
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), readStat(Number(name))?.parent ?? 0]),
  );
  const below = (pid: number): boolean => pid === root || (pid !== 0 && below(parents.get(pid) ?? 0));
  return [...parents.keys()].filter(below);
}

/** Processor time of this process and of `tree` so far; the kernel counts the latter in ticks of 10 ms. */
function cpuMs(tree: readonly number[]): number {
  if (tree.length === 0) return Number.NaN;
  const own = process.cpuUsage();
  return tree.reduce((sum, pid) => sum + (readStat(pid)?.ticks ?? 0) * 10, (own.user + own.system) / 1000);
}

function readStat(pid: number): { parent: number; ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Fields after the command, which is in parentheses: state, ppid, ..., utime (14th), stime (15th). See proc(5).
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined; // it ended meanwhile
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(describeBrowser(await benchBrowser()));
}
