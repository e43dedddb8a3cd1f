// The whole loop as stages: evaluate the base, collect its episodes, fine-tune on those it solved, evaluate, train
// online, evaluate, report. Every concrete part comes in as an argument. A stage that the run folder already holds
// is read back instead of run, so going on after an interruption gives the result of an uninterrupted run.

import { z } from 'zod';
import {
  asJson,
  type Env,
  type ProgressEvent,
  type ProgressListener,
  type Renderer,
  type Sampler,
  type Task,
  type Trainer,
  type Trajectory,
} from '../core/index.ts';
import { demonstrationData } from '../algorithms/index.ts';
import { parseWith, type RunFolder } from '../store/index.ts';
import { collect, createTaskSampler, evaluate, rl, sft, withSampler, type TrainingContext } from '../train/index.ts';
import { chooseReplays, type Replay } from './replays.ts';
import { renderReportHtml } from './report-html.ts';
import type { Machine, PeakMemory, Report } from './report-schema.ts';
import { buildReport, type EvaluatedStage } from './report.ts';
import { EVAL_FIRST_SEED, trainingSeeds, type QuickstartConfig } from './quickstart-config.ts';

export type QuickstartParts = {
  readonly config: QuickstartConfig;
  /** Name of the base model, for the report. */
  readonly model: string;
  readonly run: RunFolder;
  /** Still the caller's when the run is over, as is the trainer. */
  readonly env: Env;
  /** With the base's weights. */
  readonly trainer: Trainer;
  readonly renderer: Renderer;
  /** Class that training puzzles and demonstrations are balanced by, e.g. the number of wanted boxes. */
  readonly balanceKey: (task: Task) => string;
  /** Policies that read nothing, for the report. */
  readonly baselines: Report['baselines'];
  /** Asked for when the report is written. */
  readonly machine: () => Machine;
  /** Of this sitting so far. Default: not measured. */
  readonly peakMemory?: () => PeakMemory;
  readonly commit: string | null;
  readonly listener?: ProgressListener;
  readonly signal: AbortSignal;
  /** Milliseconds; any origin. Default `performance.now`. */
  readonly now?: () => number;
};

/** Runs what is missing, writes the report into the run folder, and returns it. */
export async function runQuickstart(parts: QuickstartParts): Promise<Report> {
  const sitting = await startSitting(parts);
  try {
    const stages = await trainInStages({ ...parts, saveSitting: sitting.save });
    return await writeReport({ parts, stages, totals: sitting.totals() });
  } catch (error) {
    // What this sitting took counts too; failing to note it must not hide what ended the run.
    await sitting.save().catch(() => undefined);
    throw error;
  }
}

type Running = QuickstartParts & { readonly saveSitting: () => Promise<void> };

async function trainInStages(running: Running): Promise<readonly EvaluatedStage[]> {
  const { config, env, trainer, renderer, balanceKey, signal, saveSitting } = running;
  const seeds = trainingSeeds(config.seed);
  const sampling = { temperature: config.temperature };
  const sampleTasks = (firstSeed: number) => createTaskSampler({ env, firstSeed, balanceKey });

  const base = await evaluateStage(running, { name: 'base', title: 'Base' });

  const collected = await withSampler(trainer, signal, (sampler) =>
    collect({
      ...context(running, 'collect', 'Collecting episodes of the base'),
      env,
      policy: { sampler, renderer },
      sampling,
      tasks: sampleTasks(seeds.collect)(0, config.collectEpisodes),
      filter: config.filter,
      balanceKey: (trajectory) => balanceKey(trajectory.task),
    }),
  );
  await saveSitting();

  const data = demonstrationData(collected.rows);
  await sft({ ...context(running, 'sft', 'Fine-tuning on what it solved'), trainer, data, config: config.sft });
  await saveSitting();
  const tuned = await evaluateStage(running, { name: 'sft', title: 'SFT' });

  const train = async (reference?: Sampler): Promise<void> =>
    rl({
      ...context(running, 'grpo', 'Training online'),
      env,
      trainer,
      renderer,
      sampling,
      sampleTasks: sampleTasks(seeds.grpo),
      config: config.grpo,
      ...(reference === undefined ? {} : { reference }),
    });
  // The trainer holds the fine-tuned weights at this point, in a resumed run too: `sft` loads them.
  if (config.grpo.beta > 0) await withSampler(trainer, signal, train);
  else await train();
  await saveSitting();
  const trained = await evaluateStage(running, { name: 'grpo', title: 'GRPO' });
  return [base, tuned, trained];
}

async function evaluateStage(
  running: Running,
  { name, title }: { readonly name: string; readonly title: string },
): Promise<EvaluatedStage> {
  const { config, env, trainer, renderer, signal, saveSitting } = running;
  const trajectories = await withSampler(trainer, signal, (sampler) =>
    evaluate({
      ...context(running, `${name}-eval`, `Evaluating: ${title}`),
      env,
      policy: { sampler, renderer },
      sampling: { temperature: config.evalTemperature ?? config.temperature },
      seeds: Array.from({ length: config.evalEpisodes }, (_, i) => EVAL_FIRST_SEED + i),
      ...(config.pictures === 0
        ? {}
        : { wantsScreenshots: ({ task }) => task.seed < EVAL_FIRST_SEED + config.pictures }),
    }),
  );
  await saveSitting();
  return { name, title, trajectories };
}

function context({ config, run, listener, signal, now }: Running, stage: string, title: string): TrainingContext {
  const record = (event: ProgressEvent): void => {
    // Steps and episodes are in the run folder already, as metrics and rollouts.
    if (event.kind !== 'step-end' && event.kind !== 'episode-end') run.appendEvent(event);
    listener?.(event);
  };
  return { runSeed: config.seed, stage, title, run, listener: record, signal, ...(now === undefined ? {} : { now }) };
}

type ReportParts = {
  readonly parts: QuickstartParts;
  readonly stages: readonly EvaluatedStage[];
  readonly totals: Totals;
};

async function writeReport({ parts, stages, totals }: ReportParts): Promise<Report> {
  const { config, run, env, model, baselines, machine, commit } = parts;
  const { seconds, ...peaks } = totals;
  const report = buildReport({
    env: env.name,
    model,
    stages,
    baselines,
    seconds,
    seeds: { run: config.seed, evaluation: { first: EVAL_FIRST_SEED, count: config.evalEpisodes } },
    machine: { ...machine(), ...peaks },
    commit,
    config: asJson(config),
  });
  const replays = await Promise.all(
    chooseReplays(stages).map(async (choice): Promise<Replay> => ({
      ...choice,
      pictures: await pictures(run, choice.trajectory),
    })),
  );
  const html = renderReportHtml(report, { curves: await run.readMetrics(), replays });
  await run.writeReport({ json: report, html });
  return report;
}

function pictures(run: RunFolder, { turns }: Trajectory): Promise<readonly (Uint8Array | undefined)[]> {
  return Promise.all(
    turns.map(async ({ screenshot }) => (screenshot === undefined ? undefined : run.readScreenshot(screenshot))),
  );
}

const totalsSchema = z.strictObject({
  seconds: z.number(),
  peakNodeMB: z.number().optional(),
  peakTotalMB: z.number().optional(),
});

/** Over all sittings of the run: wall-clock seconds in all, peaks of memory at their largest. */
type Totals = z.infer<typeof totalsSchema>;

async function startSitting(parts: QuickstartParts): Promise<{ totals: () => Totals; save: () => Promise<void> }> {
  const { run, peakMemory = () => ({}), now = () => performance.now() } = parts;
  const earlier = parseWith(
    totalsSchema,
    (await run.readState('sittings')) ?? { seconds: 0 },
    `state/sittings.json of ${run.dir}`,
  );
  const start = now();
  const totals = (): Totals => ({
    ...larger(earlier, peakMemory()),
    seconds: earlier.seconds + (now() - start) / 1000,
  });
  return { totals, save: () => run.writeState('sittings', asJson(totals())) };
}

function larger(a: PeakMemory, b: PeakMemory): PeakMemory {
  const names = ['peakNodeMB', 'peakTotalMB'] as const;
  const peaks = names.map((name) => [name, Math.max(a[name] ?? 0, b[name] ?? 0)] as const);
  return Object.fromEntries(peaks.filter(([, megabytes]) => megabytes > 0));
}
