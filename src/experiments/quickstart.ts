// The whole loop as stages: evaluate the base, collect its episodes, fine-tune on those it solved, evaluate, train
// online, evaluate, report. Every concrete part comes in as an argument. A stage that the run folder already holds
// is read back instead of run, so going on after an interruption gives the result of an uninterrupted run.

import type {
  Env,
  JsonObject,
  ProgressEvent,
  ProgressListener,
  Renderer,
  Sampler,
  Task,
  Trainer,
  Trajectory,
} from '../core/index.ts';
import { demonstrationData } from '../algorithms/index.ts';
import type { RunFolder } from '../store/index.ts';
import { collect, createTaskSampler, evaluate, rl, sft, withSampler, type TrainingContext } from '../train/index.ts';
import { chooseReplays, type Replay } from './replays.ts';
import { renderReportHtml } from './report-html.ts';
import type { Report } from './report-schema.ts';
import { buildReport, type EvaluatedStage } from './report.ts';
import { EVAL_FIRST_SEED, trainingSeeds, type QuickstartConfig } from './quickstart-config.ts';

export type QuickstartParts = {
  readonly config: QuickstartConfig;
  /** Name of the base model, for the report. */
  readonly model: string;
  readonly run: RunFolder;
  /** Starts the environment; it is disposed of at the end. */
  readonly makeEnv: (options: { readonly pages: number; readonly signal: AbortSignal }) => Promise<Env>;
  /** A trainer with the base's weights; it is disposed of at the end. */
  readonly loadTrainer: (options: { readonly signal: AbortSignal }) => Promise<Trainer>;
  readonly renderer: Renderer;
  /** Class that training puzzles and demonstrations are balanced by, e.g. the number of wanted boxes. */
  readonly balanceKey: (task: Task) => string;
  /** Policies that read nothing, for the report. */
  readonly baselines: Report['baselines'];
  /** Asked for when the report is written, so that it may tell peaks of the run. */
  readonly machine: () => Report['machine'];
  readonly commit: string | null;
  readonly listener?: ProgressListener;
  readonly signal: AbortSignal;
  /** Milliseconds; any origin. Default `performance.now`. */
  readonly now?: () => number;
};

/** Runs what is missing, writes the report into the run folder, and returns it. */
export async function runQuickstart(parts: QuickstartParts): Promise<Report> {
  const { signal, config } = parts;
  const clock = await startClock(parts);
  try {
    const env = await parts.makeEnv({ pages: config.pages, signal });
    try {
      const trainer = await parts.loadTrainer({ signal });
      try {
        const stages = await trainInStages({ ...parts, env, trainer, saveClock: clock.save });
        return await writeReport({ parts, env: env.name, stages, seconds: clock.seconds() });
      } finally {
        await trainer[Symbol.asyncDispose]();
      }
    } finally {
      await env[Symbol.asyncDispose]();
    }
  } catch (error) {
    // The time of this sitting counts too; failing to note it must not hide what ended the run.
    await clock.save().catch(() => undefined);
    throw error;
  }
}

type Running = QuickstartParts & {
  readonly env: Env;
  readonly trainer: Trainer;
  readonly saveClock: () => Promise<void>;
};

async function trainInStages(running: Running): Promise<readonly EvaluatedStage[]> {
  const { config, env, trainer, renderer, balanceKey, signal, saveClock } = running;
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
  await saveClock();

  const data = demonstrationData(collected.rows);
  await sft({ ...context(running, 'sft', 'Fine-tuning on what it solved'), trainer, data, config: config.sft });
  await saveClock();
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
  await saveClock();
  const trained = await evaluateStage(running, { name: 'grpo', title: 'GRPO' });
  return [base, tuned, trained];
}

async function evaluateStage(
  running: Running,
  { name, title }: { readonly name: string; readonly title: string },
): Promise<EvaluatedStage> {
  const { config, env, trainer, renderer, signal, saveClock } = running;
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
  await saveClock();
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
  readonly env: string;
  readonly stages: readonly EvaluatedStage[];
  readonly seconds: number;
};

async function writeReport({ parts, env, stages, seconds }: ReportParts): Promise<Report> {
  const { config, run, model, baselines, machine, commit } = parts;
  const report = buildReport({
    env,
    model,
    stages,
    baselines,
    seconds,
    seeds: { run: config.seed, evaluation: { first: EVAL_FIRST_SEED, count: config.evalEpisodes } },
    machine: machine(),
    commit,
    // Without the settings that were left out: `undefined` is no JSON.
    config: JSON.parse(JSON.stringify(config)) as JsonObject,
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

/** Wall-clock seconds of the run over all its sittings. */
async function startClock({ run, now = () => performance.now() }: QuickstartParts): Promise<{
  seconds: () => number;
  save: () => Promise<void>;
}> {
  const earlier = Number((await run.readState('seconds')) ?? 0);
  const start = now();
  const seconds = (): number => earlier + (now() - start) / 1000;
  return { seconds, save: () => run.writeState('seconds', seconds()) };
}
