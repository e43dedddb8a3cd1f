// `tabwright quickstart`: the whole loop on one machine, from the shipped base to a report.

import { asJson } from '../../core/index.ts';
import { quickstartConfigSchema, runQuickstart } from '../../experiments/index.ts';
import { blindSubmitBaseline } from '../click-checkboxes.ts';
import { currentCommit, machineFacts, monitorMemory } from '../machine.ts';
import { openModel, trainerOf } from '../models.ts';
import type { CommandSpec } from '../run-command.ts';
import { balanceKey, openEnv } from '../stage-context.ts';
import { reportSummary } from '../summary.ts';
import { runVersions } from '../version.ts';

export const quickstart: CommandSpec<typeof quickstartConfigSchema> = {
  name: 'quickstart',
  summary: 'Train an agent in a real Chromium and report what it learned: base, demonstrations, SFT, GRPO, evaluation.',
  examples: [
    'quickstart',
    'quickstart --seed 2 --out runs/two',
    'quickstart --seed 2 --out runs/two --resume',
    'quickstart --grpo.shuffle-rewards  # negative control',
  ],
  schema: quickstartConfigSchema,
  flags: ['out', 'resume', 'overwrite', 'model'],
  async action({ config, given, listener, signal, openRun, print }) {
    const model = await openModel(given.model ?? 'nano');
    const commit = await currentCommit();
    await using env = await openEnv(config.pages, signal);
    const versions = runVersions(env.browser.product);
    await using run = await openRun({ model: model.name, commit, versions, ...asJson(config) });
    await using trainer = trainerOf(model);
    using memory = monitorMemory();
    const report = await runQuickstart({
      config,
      model: model.name,
      run,
      env,
      trainer,
      renderer: model.renderer,
      balanceKey,
      baselines: [blindSubmitBaseline()],
      machine: machineFacts,
      peakMemory: () => memory.peak(),
      commit,
      listener,
      signal,
    });
    print(reportSummary(report, run.dir), { report: `${run.dir}/report.json`, html: `${run.dir}/report.html` });
  },
};
