// `tabwright quickstart`: the whole loop on one machine, from the shipped base to a report.

import { createClickCheckboxesEnv, createPuzzle } from '../../envs/index.ts';
import { quickstartConfigSchema, runQuickstart } from '../../experiments/index.ts';
import { blindSubmitBaseline, wantedBoxes } from '../click-checkboxes.ts';
import { currentCommit, machineFacts, monitorMemory } from '../machine.ts';
import { openModel, trainerOf } from '../models.ts';
import { asJson, openRun, type CommandSpec } from '../run-command.ts';
import { reportSummary } from '../summary.ts';

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
  async action({ config, given, listener, signal, print }) {
    const model = await openModel(given.model ?? 'nano');
    const commit = await currentCommit();
    await using run = await openRun('quickstart', given, {
      command: 'quickstart',
      model: model.name,
      commit,
      ...asJson(config),
    });
    using memory = monitorMemory();
    const report = await runQuickstart({
      config,
      model: model.name,
      run,
      makeEnv: ({ pages, signal: stop }) => createClickCheckboxesEnv({ pages, signal: stop }),
      loadTrainer: () => Promise.resolve(trainerOf(model)),
      renderer: model.renderer,
      balanceKey: ({ seed }) => String(wantedBoxes(createPuzzle(seed))),
      baselines: [blindSubmitBaseline()],
      machine: () => ({ ...machineFacts(), peakNodeMB: memory.peak().node, peakTotalMB: memory.peak().total }),
      commit,
      listener,
      signal,
    });
    print(reportSummary(report, run.dir), { report: `${run.dir}/report.json`, html: `${run.dir}/report.html` });
  },
};
