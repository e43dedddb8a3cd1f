// `tabwright quickstart`: the whole loop, from the shipped base to a report; weights in this process or on a Tinker server.

import { asJson } from '../../core/index.ts';
import { quickstartConfigSchema, runQuickstart } from '../../experiments/index.ts';
import { blindSubmitBaseline } from '../click-checkboxes.ts';
import { currentCommit, machineFacts, monitorMemory } from '../machine.ts';
import { openPolicyModel } from '../policy-model.ts';
import type { CommandSpec } from '../run-command.ts';
import { openEnv, policyModelOptions } from '../stage-context.ts';
import { reportSummary } from '../summary.ts';
import { balanceKey } from '../training-environment.ts';
import { runVersions } from '../version.ts';

export const quickstart: CommandSpec<typeof quickstartConfigSchema> = {
  name: 'quickstart',
  summary: 'Train an agent in a real Chromium and report what it learned: base, demonstrations, SFT, GRPO, evaluation.',
  examples: [
    'quickstart',
    'quickstart --seed 2 --out runs/two',
    'quickstart --seed 2 --out runs/two --resume',
    'quickstart --model tinker:nano --base-url http://127.0.0.1:8485',
    'quickstart --grpo.shuffle-rewards  # negative control',
  ],
  schema: quickstartConfigSchema,
  flags: ['out', 'resume', 'overwrite', 'model', 'baseUrl'],
  async action({ config, given, listener, signal, openRun, print }) {
    const name = given.model ?? 'nano';
    await using model = await openPolicyModel(name, policyModelOptions({ config: {}, given, listener, signal }));
    const commit = await currentCommit();
    await using env = await openEnv(config.pages, signal);
    const versions = runVersions(env.browser.product);
    await using run = await openRun({ model: model.name, ...model.noted, commit, versions, ...asJson(config) });
    // The rates of its settings are for training every weight.
    await using trainer = await model.createTrainer({ rank: 0 });
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
