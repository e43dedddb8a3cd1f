// The page docs/results/miniwob-speed.md, from the samples. Pure.

import type { Machine } from '../../src/experiments/index.ts';
import { quantile } from '../../src/stats/index.ts';
import type { Level } from './contestant.ts';

/** One task in one round. */
export type Sample = {
  readonly contestant: string;
  readonly level: Level;
  readonly task: string;
  readonly round: number;
  readonly loadBefore: number;
  readonly resetMs: readonly number[];
  readonly stepMs: readonly number[];
  readonly resetCpuMs: number;
  readonly stepCpuMs: number;
};

/** Whole episodes of one task, `count` at a time. */
export type Parallel = {
  readonly contestant: string;
  readonly level: Level;
  readonly task: string;
  readonly count: number;
  readonly loadBefore: number;
  readonly seconds: number;
  readonly episodes: number;
  readonly steps: number;
  readonly cpuSeconds: number;
};

/** A contestant that did not get through `count` episodes at a time. */
export type Failure = { readonly contestant: string; readonly count: number; readonly message: string };

export type Speed = {
  readonly version: 1;
  readonly date: string;
  readonly commit: string | null;
  readonly machine: Machine;
  readonly browser: string;
  readonly tasks: readonly string[];
  readonly rounds: number;
  /** Problems a task in each round. */
  readonly seeds: number;
  /** What each contestant plays before each of its turns. */
  readonly warmSeconds: number;
  readonly samples: readonly Sample[];
  readonly parallel: readonly Parallel[];
  readonly failures: readonly Failure[];
  readonly parallelTasks: readonly string[];
};

const TITLES: Readonly<Record<string, string>> = {
  browsergym: 'BrowserGym 0.14.3, default, Chromium',
  'browsergym-fast': 'BrowserGym 0.14.3, `pre_observation_delay=0, slow_mo=0`, headless shell',
  farama: 'miniwob 1.1.0 (Farama, Selenium), Chromium, page reuse',
  'ours text': 'Tabwright, text, page reuse',
  'ours full': 'Tabwright, text + geometry + picture, page reuse',
  'ours-reload text': 'Tabwright, text, page loaded anew',
};

type Row = {
  readonly key: string;
  readonly step: number;
  readonly stepHigh: number;
  readonly steps: number;
  readonly stepCpu: number;
  readonly reset: number;
  readonly resetHigh: number;
  readonly resets: number;
  readonly resetCpu: number;
};

export function speedPage(speed: Speed): string {
  const keys = ['browsergym', 'browsergym-fast', 'farama', 'ours text', 'ours full', 'ours-reload text'];
  const rows = keys.map((key) => rowOf(key, speed));
  const by = (key: string): Row => rows.find((row) => row.key === key)!;
  const loads = [...speed.samples, ...speed.parallel].map(({ loadBefore }) => loadBefore);
  const ratio = (peer: string, own: string, field: 'step' | 'reset' | 'stepCpu' | 'resetCpu'): string =>
    `${(by(peer)[field] / by(own)[field]).toFixed(1)}`;
  const ratios = (own: string): string =>
    ['browsergym', 'browsergym-fast', 'farama']
      .map((peer) =>
        [
          `| ${TITLES[own]} against ${TITLES[peer]}`,
          ratio(peer, own, 'step'),
          ratio(peer, own, 'stepCpu'),
          ratio(peer, own, 'reset'),
          `${ratio(peer, own, 'resetCpu')} |`,
        ].join(' | '),
      )
      .join('\n');
  const ms = (value: number): string => value.toFixed(value < 100 ? 1 : 0);
  return `# MiniWoB++: speed against BrowserGym and Farama's environment

Made by \`npm run bench:miniwob -- --rounds ${speed.rounds} --seeds ${speed.seeds}\` on ${speed.date}, commit ${speed.commit ?? 'unknown'}. ${speed.machine.cores} cores of ${speed.machine.processor}, Node
${speed.machine.node}; here ${speed.browser}; load average ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}, the contestants' own work included. Tasks: ${speed.tasks.join(', ')}.

Every contestant plays the same problems (the page seeds that BrowserGym makes of its own), by the same plan, read from what it
observes; every episode was solved by all. They take turns, task by task, in ${speed.rounds} rounds; all of them stay alive meanwhile, and each
plays unmeasured for ${speed.warmSeconds} s before its turn, so that compilers and caches are warm, as in a run they are. A step
is an action and the observation after it. Milliseconds are medians over the tasks of each task's median, in brackets the ninth decile of all samples; CPU
is user and system time of a contestant's whole process tree, mean over the tasks.

BrowserGym observes the accessibility tree, a DOM snapshot and a picture; Farama's environment elements with geometry and a
picture, and its clicks are scripts of the page, not input. "Text" here is the page as agents of this project read it (roles, names, states
and layout); geometry is part of both levels, the picture of the second alone.

| | step ms | CPU ms | reset ms | CPU ms |
|---|---|---|---|---|
${rows
  .map(
    (row) =>
      `| ${TITLES[row.key]} | ${ms(row.step)} (${ms(row.stepHigh)}; n ${row.steps}) | ${ms(row.stepCpu)} | ${ms(row.reset)} (${ms(row.resetHigh)}; n ${row.resets}) | ${ms(row.resetCpu)} |`,
  )
  .join('\n')}

How many times the peer's figure is of ours:

| | step | CPU of a step | reset | CPU of a reset |
|---|---|---|---|---|
${['ours text', 'ours full', 'ours-reload text'].map(ratios).join('\n')}

Resets of Tabwright's first two rows are by page reuse: the page starts its next problem, as Farama's environment does too. BrowserGym starts
new browsers, which isolates more; like for like with that is a reload or more.

## Whole episodes, several at once

Scripted episodes of ${speed.parallelTasks.join(' and ')}, reset included. The peers have one process for each environment; here they are pages of one browser.

| | at once | episodes/min | steps/s | CPU s per episode |
|---|---|---|---|---|
${parallelRows(speed).join('\n')}
`;
}

function rowOf(key: string, { samples, tasks }: Speed): Row {
  const own = samples.filter(({ contestant, level }) => key === contestant || key === `${contestant} ${level}`);
  const perTask = tasks.map((task) => own.filter((sample) => sample.task === task));
  const medianOf = (field: 'stepMs' | 'resetMs'): number =>
    quantile(
      perTask.map((part) =>
        quantile(
          part.flatMap((sample) => sample[field]),
          0.5,
        ),
      ),
      0.5,
    );
  const mean = (field: 'stepCpuMs' | 'resetCpuMs'): number =>
    own.reduce((sum, sample) => sum + sample[field], 0) / own.length;
  const steps = own.flatMap(({ stepMs }) => stepMs);
  const resets = own.flatMap(({ resetMs }) => resetMs);
  return {
    key,
    step: medianOf('stepMs'),
    stepHigh: quantile(steps, 0.9),
    steps: steps.length,
    stepCpu: mean('stepCpuMs'),
    reset: medianOf('resetMs'),
    resetHigh: quantile(resets, 0.9),
    resets: resets.length,
    resetCpu: mean('resetCpuMs'),
  };
}

function parallelRows({ parallel, failures }: Speed): readonly string[] {
  const keys = new Map<string, Parallel[]>();
  for (const row of parallel) {
    const key = `${row.contestant === 'ours' ? `ours ${row.level}` : row.contestant}|${row.count}`;
    keys.set(key, [...(keys.get(key) ?? []), row]);
  }
  const measured = [...keys].map(([key, rows]) => {
    const [contestant, count] = key.split('|');
    const total = (field: 'seconds' | 'episodes' | 'steps' | 'cpuSeconds'): number =>
      rows.reduce((sum, row) => sum + row[field], 0);
    const rate = (total('episodes') / total('seconds')) * 60;
    return `| ${TITLES[contestant]} | ${count} | ${rate.toFixed(rate < 100 ? 1 : 0)} | ${(total('steps') / total('seconds')).toFixed(1)} | ${(total('cpuSeconds') / total('episodes')).toFixed(2)} |`;
  });
  const failed = failures.map(
    ({ contestant, count, message }) =>
      `| ${TITLES[contestant]} | ${count} | did not get through: ${message} | - | - |`,
  );
  return [...measured, ...failed];
}
