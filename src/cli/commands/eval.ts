// `tabwright eval`: how good a model is on held-out puzzles, with its interval; or, with --url and --task, one task on any
// website.

import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import { buildReport, EVAL_FIRST_SEED, renderReportHtml } from '../../experiments/index.ts';
import { evaluate as runEvaluation } from '../../train/index.ts';
import { blindSubmitBaseline } from '../click-checkboxes.ts';
import { currentCommit, machineFacts } from '../machine.ts';
import { openPolicyModel } from '../policy-model.ts';
import type { CommandSpec } from '../run-command.ts';
import { episodeSettings, modelSettings, openEnv, policyModelOptions, REMOTE_DEADLINES } from '../stage-context.ts';
import { reportSummary } from '../summary.ts';
import { runVersions } from '../version.ts';
import { evaluateWebTask, webTaskSettings } from './web-task.ts';

const schema = z.strictObject({
  ...episodeSettings,
  ...modelSettings,
  episodes: z.int().positive().max(100_000).default(200).describe('held-out puzzles, one episode each'),
  ...webTaskSettings,
});

/** Settings of puzzles that mean nothing for a task on a website. */
const OF_PUZZLES = ['env', 'pages', 'episodes', ...Object.keys(modelSettings)] as const;

export const evaluate: CommandSpec<typeof schema> = {
  name: 'eval',
  summary:
    'Measure a model on held-out puzzles: exact success with its interval, failures by class. Or give it one task on any website.',
  examples: [
    'eval --model nano',
    'eval --model runs/train --episodes 500 --temperature 0',
    'eval --model tinker:nano --base-url http://127.0.0.1:8000',
    'eval --url https://example.com --task "What is the page about?" --model openai:gpt-5-mini --verbose',
  ],
  schema,
  flags: ['model', 'out', 'resume', 'overwrite'],
  async action(context) {
    const { config, given, listener, signal, openRun, print } = context;
    if (config.url !== undefined || config.task !== undefined) {
      refuse(OF_PUZZLES, given, 'is for puzzles and means nothing with --url and --task');
      return evaluateWebTask(config, context);
    }
    // A base URL goes with a model of a Tinker server too; others refuse it themselves.
    refuse(
      Object.keys(webTaskSettings).filter((name) => name !== 'baseUrl'),
      given,
      'is for a task on a website: give --url and --task too',
    );
    const start = performance.now();
    await using model = await openPolicyModel(
      given.model ?? 'nano',
      policyModelOptions({ config, given, listener, signal }),
    );
    const commit = await currentCommit();
    await using env = await openEnv(config.pages, signal);
    const versions = runVersions(env.browser.product);
    await using run = await openRun({ model: model.name, commit, versions, ...config, ...model.noted });
    await using sampler = await model.openSampler();
    const trajectories = await runEvaluation({
      runSeed: config.seed,
      stage: 'eval',
      title: `Evaluating ${model.name}`,
      run,
      listener,
      signal,
      env,
      policy: { sampler, renderer: model.renderer },
      ...(model.isSlow ? { deadlines: REMOTE_DEADLINES } : {}),
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

/** A flag that would be without effect is a mistake. `given` holds the command line's options, as they were written. */
function refuse(names: readonly string[], given: object, why: string): void {
  const options = given as Readonly<Record<string, unknown>>;
  const name = names.find((one) => options[one] !== undefined);
  if (name === undefined) return;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new TabwrightError('config', `${flag} ${why}.`, { code: 'option-without-effect', details: { flag } });
}
