// `tabwright sft`: supervised fine-tuning on collected episodes.

import { z } from 'zod';
import { demonstrationData, demonstrations } from '../../algorithms/index.ts';
import { smallSftSchema } from '../../experiments/index.ts';
import { TabwrightError, type JsonObject } from '../../core/index.ts';
import { readRun } from '../../store/index.ts';
import { sft as runSft } from '../../train/index.ts';
import { currentCommit } from '../machine.ts';
import { openPolicyModel } from '../policy-model.ts';
import type { CommandSpec } from '../run-command.ts';
import { balanceKey, policyModelOptions } from '../stage-context.ts';
import { runVersions } from '../version.ts';

const filterSchema = z.enum(['exact', 'lenient', 'none']);
const collectionSchema = z.looseObject({ filter: filterSchema });

const schema = z.strictObject({
  seed: z.int().nonnegative().default(1).describe('makes the command reproducible'),
  data: z.string().optional().describe('run folder of `tabwright collect` (needed)'),
  filter: filterSchema.optional().describe('which episodes are imitated (default: as they were collected)'),
  ...smallSftSchema.shape,
  loraRank: z
    .int()
    .nonnegative()
    .optional()
    .describe('train adapters of this rank, 0 every weight (default: 32 on a Tinker server, 0 here)'),
});

export const sft: CommandSpec<typeof schema> = {
  name: 'sft',
  summary: 'Fine-tune a model on collected episodes.',
  examples: [
    'sft --data runs/collect --out runs/sft',
    'sft --data runs/collect --epochs 5 --learning-rate 1e-3 --out runs/sft',
  ],
  schema,
  flags: ['model', 'baseUrl', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, openRun, print }) {
    const { seed, data, filter: chosen, loraRank, ...settings } = config;
    if (data === undefined) {
      throw new TabwrightError('config', '--data is missing: give the run folder of `tabwright collect`.', {
        code: 'missing-data',
      });
    }
    const collection = await readRun(data);
    const filter = chosen ?? collectedFilter(data, collection.config);
    const rows = demonstrations(await collection.readRollouts('collect'), {
      filter,
      balanceKey: (trajectory) => balanceKey(trajectory.task),
    });
    await using model = await openPolicyModel(given.model ?? 'nano', policyModelOptions({ given, listener, signal }));
    const versions = runVersions();
    const commit = await currentCommit();
    await using run = await openRun({ model: model.name, commit, versions, ...config, filter });
    await using trainer = await model.createTrainer({ rank: loraRank });
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

/** The filter that the episodes were collected with. */
function collectedFilter(folder: string, config: JsonObject): z.infer<typeof filterSchema> {
  const collection = collectionSchema.safeParse(config);
  if (collection.success) return collection.data.filter;
  throw new TabwrightError(
    'config',
    `--data ${folder} is no run of \`tabwright collect\` or \`tabwright quickstart\`.`,
    {
      code: 'no-collection',
      details: { folder },
    },
  );
}
