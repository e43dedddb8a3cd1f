// `tabwright sft`: supervised fine-tuning on collected episodes.

import { z } from 'zod';
import { demonstrationData, demonstrations } from '../../algorithms/index.ts';
import { smallSftSchema } from '../../experiments/index.ts';
import { TabwrightError } from '../../core/index.ts';
import { readRun } from '../../store/index.ts';
import { sft as runSft } from '../../train/index.ts';
import { currentCommit } from '../machine.ts';
import { openModel, trainerOf } from '../models.ts';
import { openRun, type CommandSpec } from '../run-command.ts';
import { balanceKey } from '../stage-context.ts';

const schema = z.strictObject({
  seed: z.int().nonnegative().default(1).describe('makes the command reproducible'),
  data: z.string().optional().describe('run folder of `tabwright collect` (needed)'),
  filter: z.enum(['exact', 'lenient', 'none']).default('exact').describe('which episodes are imitated'),
  ...smallSftSchema.shape,
});

export const sft: CommandSpec<typeof schema> = {
  name: 'sft',
  summary: 'Fine-tune a model on collected episodes.',
  examples: [
    'sft --data runs/collect --out runs/sft',
    'sft --data runs/collect --epochs 5 --learning-rate 1e-3 --out runs/sft',
  ],
  schema,
  flags: ['model', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, print }) {
    const { seed, data, filter, ...settings } = config;
    if (data === undefined) {
      throw new TabwrightError('config', '--data is missing: give the run folder of `tabwright collect`.', {
        code: 'missing-data',
      });
    }
    const collection = await readRun(data);
    const rows = demonstrations(await collection.readRollouts('collect'), {
      filter,
      balanceKey: (trajectory) => balanceKey(trajectory.task),
    });
    const model = await openModel(given.model ?? 'nano');
    await using run = await openRun('sft', given, {
      command: 'sft',
      model: model.name,
      commit: await currentCommit(),
      ...config,
    });
    await using trainer = trainerOf(model);
    await runSft({
      trainer,
      data: demonstrationData(rows),
      config: settings,
      runSeed: seed,
      stage: 'sft',
      title: 'Fine-tuning',
      run,
      listener,
      signal,
    });
    print(
      `${rows.length} rows learned in ${trainer.step} steps.\nModel: ${run.dir}  (tabwright eval --model ${run.dir})`,
      { out: run.dir, rows: rows.length },
    );
  },
};
