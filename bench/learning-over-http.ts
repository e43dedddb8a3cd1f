// The quickstart with its weights in this process and on `tabwright serve`, same seeds and settings, compared puzzle by
// puzzle; one page of figures. A seed takes twice the quickstart's time, twelve minutes on an idle machine of two cores.
// Usage: node --import tsx bench/learning-over-http.ts [--seeds 1] [--quick] [--page] [-- flags of the quickstart]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { Trajectory } from '../src/core/index.ts';
import { reportSchema, type Report } from '../src/experiments/index.ts';
import { mcNemar } from '../src/stats/index.ts';
import { readRun } from '../src/store/index.ts';
import { duration, percent, percentRange, pValue } from '../src/util/index.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = join(ROOT, 'docs', 'results');
const FIGURES = join(RESULTS, 'tinker-loop.json');
const STAGES = ['base', 'sft', 'grpo'] as const;

/** Small enough for a machine that others use, large enough to learn something. */
const QUICK = [
  ...['--eval-episodes', '64', '--collect-episodes', '160', '--pictures', '0', '--pages', '8'],
  ...['--grpo.steps', '10', '--grpo.groups', '8', '--grpo.group-size', '8'],
];

const stageSchema = z.strictObject({
  name: z.enum(STAGES),
  puzzles: z.int(),
  /** Exact success in this process and over HTTP, with Wilson's 95 % intervals. */
  here: z.number().nullable(),
  hereCI: z.tuple([z.number(), z.number()]),
  there: z.number().nullable(),
  thereCI: z.tuple([z.number(), z.number()]),
  /** Puzzles that have the same outcome in both, and those whose sampled tokens are the same throughout. */
  sameOutcome: z.int(),
  sameTokens: z.int(),
  onlyHere: z.int(),
  onlyThere: z.int(),
  mcnemarP: z.number(),
});
const runSchema = z.strictObject({
  seed: z.int(),
  flags: z.array(z.string()),
  stages: z.array(stageSchema),
  hereSeconds: z.number(),
  thereSeconds: z.number(),
  /** Mean seconds of an update, after the episodes. */
  hereTrainSeconds: z.number(),
  thereTrainSeconds: z.number(),
  /** Largest difference of a step's KL figure towards the reference. */
  klDifference: z.number(),
  loadBefore: z.number(),
  loadAfter: z.number(),
});
const figuresSchema = z.strictObject({
  date: z.string(),
  commit: z.string().nullable(),
  machine: z.record(z.string(), z.union([z.string(), z.number()])),
  runs: z.array(runSchema),
});
type Run = z.infer<typeof runSchema>;
type Figures = z.infer<typeof figuresSchema>;

const cli = (args: readonly string[], stdout: 'inherit' | 'pipe') =>
  spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], {
    cwd: ROOT,
    stdio: ['ignore', stdout, 'inherit'],
  });

async function serveNano(checkpoints: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const args = ['serve', '--model', 'nano', '--port', '0', '--checkpoints', checkpoints, '--json'];
  const child = cli(args, 'pipe');
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const event = JSON.parse(line) as { kind: string; url: string };
      if (event.kind === 'result') resolve(event.url);
    });
    void exited.then(() => reject(new Error('the server ended')));
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { url, [Symbol.asyncDispose]: stop };
}

async function quickstart(flags: readonly string[], out: string): Promise<Report> {
  const child = cli(['quickstart', ...flags, '--out', out, '--overwrite'], 'inherit');
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`quickstart ${flags.join(' ')} ended with exit code ${code}`);
  return reportSchema.parse(JSON.parse(await readFile(join(ROOT, out, 'report.json'), 'utf8')));
}

async function runSeed(seed: number, more: readonly string[]): Promise<{ run: Run; report: Report }> {
  const flags = ['--seed', String(seed), ...more];
  const [here, there] = [`runs/over-http-${seed}-here`, `runs/over-http-${seed}-there`];
  const loadBefore = loadavg()[0];
  const local = await quickstart(flags, here);
  await using server = await serveNano(join(ROOT, 'runs', `over-http-${seed}-server`));
  const remote = await quickstart([...flags, '--model', 'tinker:nano', '--base-url', server.url], there);
  const [a, b] = [await readRun(join(ROOT, here)), await readRun(join(ROOT, there))];
  const steps = async (folder: typeof a) => (await folder.readMetrics()).filter(({ stage }) => stage === 'grpo');
  const [ours, theirs] = [await steps(a), await steps(b)];
  const mean = (rows: typeof ours): number =>
    rows.reduce((sum, row) => sum + Number(row['time/train']), 0) / Math.max(1, rows.length);
  const kl = ours.map((row, i) => Math.abs(Number(row['kl_policy_base']) - Number(theirs[i]['kl_policy_base'])));
  const stages = [];
  for (const name of STAGES) {
    const [x, y] = [await a.readRollouts(`${name}-eval`), await b.readRollouts(`${name}-eval`)];
    stages.push(compare({ name, x, y, local, remote }));
  }
  const run: Run = {
    seed,
    flags,
    stages,
    hereSeconds: local.seconds,
    thereSeconds: remote.seconds,
    hereTrainSeconds: mean(ours),
    thereTrainSeconds: mean(theirs),
    // Steps without a mixed group have none.
    klDifference: Math.max(0, ...kl.filter((value) => !Number.isNaN(value))),
    loadBefore,
    loadAfter: loadavg()[0],
  };
  return { run, report: local };
}

type Compared = {
  readonly name: (typeof STAGES)[number];
  readonly x: readonly Trajectory[];
  readonly y: readonly Trajectory[];
  readonly local: Report;
  readonly remote: Report;
};

function compare({ name, x, y, local, remote }: Compared): Run['stages'][number] {
  const others = new Map(y.map((trajectory) => [trajectory.task.seed, trajectory]));
  const pairs = x.map((one) => {
    const other = others.get(one.task.seed);
    if (other === undefined) throw new Error(`puzzle ${one.task.seed} was played in one run only`);
    return [one, other] as const;
  });
  const solved = ({ outcome }: Trajectory): boolean => outcome.kind === 'finished' && outcome.success;
  const tokens = ({ turns }: Trajectory): string => JSON.stringify(turns.map(({ actionTokens }) => actionTokens));
  const count = (test: (a: Trajectory, b: Trajectory) => boolean): number =>
    pairs.filter(([one, other]) => test(one, other)).length;
  const onlyHere = count((one, other) => solved(one) && !solved(other));
  const onlyThere = count((one, other) => !solved(one) && solved(other));
  const stage = (report: Report) => report.stages.find((each) => each.name === name)!;
  return {
    name,
    puzzles: pairs.length,
    here: stage(local).exact,
    hereCI: stage(local).exactCI,
    there: stage(remote).exact,
    thereCI: stage(remote).exactCI,
    sameOutcome: count((one, other) => JSON.stringify(one.outcome) === JSON.stringify(other.outcome)),
    sameTokens: count((one, other) => tokens(one) === tokens(other)),
    onlyHere,
    onlyThere,
    mcnemarP: mcNemar(onlyThere, onlyHere).exactP,
  };
}

function page({ date, commit, machine, runs }: Figures): string {
  const rate = (value: number | null, interval: readonly [number, number]): string =>
    value === null ? '-' : `${percent(value)} (${percentRange(interval)})`;
  return [
    '# The loop on a Tinker server, measured against the loop in one process',
    '',
    `Made by \`node --import tsx bench/learning-over-http.ts\` on ${date}, commit ${commit ?? 'unknown'}. Machine: ${Object.entries(
      machine,
    )
      .map(([key, value]) => `${key} ${value}`)
      .join(', ')}.`,
    'The same command twice, with the same seed: once with the weights in its own process, once with `--model tinker:nano` against',
    '`tabwright serve` in another process, every call over HTTP on loopback. Exact success on the same held-out puzzles; Wilson 95 %',
    "intervals in brackets; p is McNemar's, exact, over puzzles that one run alone solved.",
    '',
    '| seed | stage | in process | over HTTP | same outcome | same tokens | only here / there | p |',
    '|---|---|---|---|---|---|---|---|',
    ...runs.flatMap(({ seed, stages }) =>
      stages.map(
        (stage) =>
          `| ${[seed, stage.name, rate(stage.here, stage.hereCI), rate(stage.there, stage.thereCI), `${stage.sameOutcome} of ${stage.puzzles}`, `${stage.sameTokens} of ${stage.puzzles}`, `${stage.onlyHere} / ${stage.onlyThere}`, pValue(stage.mcnemarP)].join(' | ')} |`,
      ),
    ),
    '',
    'Log-probabilities have 32 bits on the wire and more in one process; the KL penalty is made of them, so weights may come to differ in',
    'their last places, and a draw on the edge may then fall otherwise.',
    '',
    '| seed | time in process | over HTTP | update in process | over HTTP | largest difference of KL | load average |',
    '|---|---|---|---|---|---|---|',
    ...runs.map(
      (run) =>
        `| ${[run.seed, duration(run.hereSeconds), duration(run.thereSeconds), `${run.hereTrainSeconds.toFixed(2)} s`, `${run.thereTrainSeconds.toFixed(2)} s`, run.klDifference.toExponential(1), `${run.loadBefore.toFixed(1)}, then ${run.loadAfter.toFixed(1)}`].join(' | ')} |`,
    ),
    '',
    '## Commands',
    '',
    ...runs.map(
      ({ flags }) =>
        `- \`npm run quickstart -- ${flags.join(' ')}\`, and the same with \`--model tinker:nano --base-url <url>\``,
    ),
    '',
    'Figures: [tinker-loop.json](tinker-loop.json).',
    '',
  ].join('\n');
}

async function measure(seeds: readonly number[], flags: readonly string[]): Promise<Figures> {
  const runs: Run[] = [];
  let first: Report | undefined;
  for (const seed of seeds) {
    const { run, report } = await runSeed(seed, flags);
    runs.push(run);
    first ??= report;
  }
  const machine = Object.entries(first!.machine).filter(
    (entry): entry is [string, string | number] => !entry[0].startsWith('peak') && entry[1] !== undefined,
  );
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: first!.commit,
    machine: Object.fromEntries(machine),
    runs,
  };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    /** Writes the page anew from the figures that are there. */
    page: { type: 'boolean', default: false },
  },
});
const seeds = values.seeds.split(',').map(Number);
const figures = values.page
  ? figuresSchema.parse(JSON.parse(await readFile(FIGURES, 'utf8')))
  : await measure(seeds, [...(values.quick ? QUICK : []), ...positionals]);
await mkdir(RESULTS, { recursive: true });
await writeFile(FIGURES, `${JSON.stringify(figures, null, 1)}\n`);
await writeFile(join(RESULTS, 'tinker-loop.md'), page(figures));
console.log(page(figures));
