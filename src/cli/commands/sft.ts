// `tabwright sft`: supervised fine-tuning on collected episodes.

import { z } from 'zod';
import { demonstrationData, demonstrations } from '../../algorithms/index.ts';
import { smallSftSchema } from '../../experiments/index.ts';
import { TabwrightError, type JsonObject } from '../../core/index.ts';
import { readRun } from '../../store/index.ts';
import { sft as runSft, sftConfigSchema, supervisedRate } from '../../train/index.ts';
import { currentCommit } from '../machine.ts';
import { PROGRAM } from '../program-name.ts';
import { openPolicyModel } from '../policy-model.ts';
import type { CommandSpec } from '../run-command.ts';
import { modelSettings, policyModelOptions, trainerDeadline } from '../stage-context.ts';
import { balanceKey } from '../training-environment.ts';
import { runVersions } from '../version.ts';

const filterSchema = z.enum(['exact', 'lenient', 'none']);
const collectionSchema = z.looseObject({ filter: filterSchema });

/** Of adapters, as the loop's own default; every weight of a small model takes more. */
const ADAPTER_RATE = sftConfigSchema.parse({}).learningRate;

const schema = z.strictObject({
  seed: z.int().nonnegative().default(1).describe('makes the command reproducible'),
  data: z.string().optional().describe('run folder of `tabwright collect` (needed)'),
  filter: filterSchema.optional().describe('which episodes are imitated (default: as they were collected)'),
  ...modelSettings,
  ...trainerDeadline,
  ...smallSftSchema.shape,
  learningRate: z
    .union([z.literal('auto'), z.coerce.number().positive()], {
      error: 'is a positive number, or auto for the rule of supervised fine-tuning with adapters',
    })
    .default(smallSftSchema.parse({}).learningRate)
    .describe(
      `learning rate after the warm-up, or auto by the model's width; of adapters ${ADAPTER_RATE} unless given`,
    ),
  loraRank: z
    .int()
    .nonnegative()
    .optional()
    .describe('train adapters of this rank, 0 every weight (default: 32, of nano in this process 0)'),
});

export const sft: CommandSpec<typeof schema> = {
  name: 'sft',
  summary: 'Fine-tune a model on collected episodes.',
  examples: [
    'sft --data runs/collect --out runs/sft',
    'sft --model hf:Qwen/Qwen3-0.6B --data runs/collect --learning-rate auto --out runs/sft',
    'sft --data runs/collect --epochs 5 --learning-rate 1e-3 --out runs/sft',
  ],
  schema,
  flags: ['model', 'baseUrl', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, openRun, print }) {
    const { seed, data, filter: chosen, loraRank, trainerDeadlineSeconds } = config;
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
    await using model = await openPolicyModel(
      given.model ?? 'nano',
      policyModelOptions({ config, given, listener, signal }),
    );
    const rateGiven = (given as { readonly learningRate?: string }).learningRate !== undefined;
    const adapters = model.trainsAdapters(loraRank);
    const learningRate =
      config.learningRate === 'auto'
        ? supervisedRate({ name: model.name, ...(model.shape ?? NO_SHAPE), adapters })
        : rateGiven || !adapters
          ? config.learningRate
          : ADAPTER_RATE;
    const settings = smallSftSchema.parse({
      ...Object.fromEntries(Object.keys(smallSftSchema.shape).map((key) => [key, config[key as keyof typeof config]])),
      learningRate,
    });
    const versions = runVersions();
    const commit = await currentCommit();
    await using run = await openRun({
      model: model.name,
      ...model.noted,
      commit,
      versions,
      ...config,
      learningRate,
      filter,
    });
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
      ...(trainerDeadlineSeconds === undefined ? {} : { trainerCallMs: 1000 * trainerDeadlineSeconds }),
    });
    print(
      `${rows.length} rows learned in ${trainer.step} steps.\nModel: ${run.dir}  (${PROGRAM} eval --model ${run.dir})`,
      { out: run.dir, rows: rows.length },
    );
  },
};

const NO_SHAPE = { family: undefined, hiddenSize: undefined } as const;

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
