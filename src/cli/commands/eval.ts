// `tabwright eval`: how good a model is on held-out puzzles, with its interval.

import { z } from 'zod';
import { buildReport, EVAL_FIRST_SEED, renderReportHtml } from '../../experiments/index.ts';
import { evaluate as runEvaluation } from '../../train/index.ts';
import { blindSubmitBaseline } from '../click-checkboxes.ts';
import { currentCommit, machineFacts } from '../machine.ts';
import { openModel, samplerOf } from '../models.ts';
import type { CommandSpec } from '../run-command.ts';
import { episodeSettings, openEnv } from '../stage-context.ts';
import { reportSummary } from '../summary.ts';
import { runVersions } from '../version.ts';

const schema = z.strictObject({
  ...episodeSettings,
  episodes: z.int().positive().max(100_000).default(200).describe('held-out puzzles, one episode each'),
});

export const evaluate: CommandSpec<typeof schema> = {
  name: 'eval',
  summary: 'Measure a model on held-out puzzles: exact success with its interval, failures by class.',
  examples: ['eval --model nano', 'eval --model runs/train --episodes 500 --temperature 0'],
  schema,
  flags: ['model', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, openRun, print }) {
    const start = performance.now();
    const model = await openModel(given.model ?? 'nano');
    const commit = await currentCommit();
    await using env = await openEnv(config.pages, signal);
    const versions = runVersions(env.browser.product);
    await using run = await openRun({ model: model.name, commit, versions, ...config });
    await using policy = samplerOf(model);
    const trajectories = await runEvaluation({
      runSeed: config.seed,
      stage: 'eval',
      title: `Evaluating ${model.name}`,
      run,
      listener,
      signal,
      env,
      policy: { sampler: policy.sampler, renderer: model.renderer },
      sampling: { temperature: config.temperature },
      seeds: Array.from({ length: config.episodes }, (_, i) => EVAL_FIRST_SEED + i),
    });
    const report = buildReport({
      env: env.name,
      model: model.name,
      stages: [{ name: 'eval', title: 'Eval', trajectories }],
      baselines: [blindSubmitBaseline()],
      seconds: (performance.now() - start) / 1000,
      seeds: { run: config.seed, evaluation: { first: EVAL_FIRST_SEED, count: config.episodes } },
      machine: machineFacts(),
      commit,
      config,
    });
    await run.writeReport({ json: report, html: renderReportHtml(report, { curves: [], replays: [] }) });
    print(reportSummary(report, run.dir), { report: `${run.dir}/report.json`, exact: report.stages[0].exact });
  },
};
