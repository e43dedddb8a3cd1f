// `tabwright train`: online group-relative policy gradient in live pages, in this process or on a Tinker server.

import { z } from 'zod';
import { asJson } from '../../core/index.ts';
import { smallRlSchema, trainingSeeds } from '../../experiments/index.ts';
import { createTaskSampler, rl } from '../../train/index.ts';
import { currentCommit } from '../machine.ts';
import { openPolicyModel } from '../policy-model.ts';
import type { CommandSpec } from '../run-command.ts';
import {
  balanceKey,
  episodeSettings,
  modelSettings,
  openEnv,
  policyModelOptions,
  REMOTE_DEADLINES,
  trainerDeadline,
} from '../stage-context.ts';
import { runVersions } from '../version.ts';

/** Of adapters, as tinker-cookbook's default for policy gradients; every weight of a small model takes far more. */
const ADAPTER_RATE = 4e-5;

const schema = smallRlSchema.safeExtend({
  ...episodeSettings,
  ...modelSettings,
  ...trainerDeadline,
  learningRate: z
    .number({
      error: ({ input }) =>
        input === 'auto'
          ? `"auto" is a rule for supervised fine-tuning, with rates that ruin a policy gradient; give a number, such as ${ADAPTER_RATE}`
          : undefined,
    })
    .positive()
    .default(smallRlSchema.parse({}).learningRate)
    .describe(`learning rate after the warm-up; of adapters ${ADAPTER_RATE} unless given`),
  loraRank: z
    .int()
    .nonnegative()
    .optional()
    .describe('train adapters of this rank, 0 every weight (default: 32, of nano in this process 0)'),
  stepsOffPolicy: z
    .int()
    .nonnegative()
    .max(16)
    .optional()
    .describe('play episodes with weights of so many steps before, while those steps are made (default: 0)'),
  saveEvery: z.int().positive().optional().describe('steps between two checkpoints (default: 1)'),
});

export const train: CommandSpec<typeof schema> = {
  name: 'train',
  summary: 'Train a model online with GRPO: groups of episodes in live pages, exact reward.',
  examples: [
    'train --model runs/sft --out runs/train',
    'train --model runs/sft --steps 20 --beta 0.01 --out runs/train',
    'train --model runs/sft --out runs/train --resume',
    'train --model tinker:nano --base-url http://127.0.0.1:8000 --lora-rank 32 --out runs/train',
  ],
  schema,
  flags: ['model', 'baseUrl', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, openRun, print }) {
    const {
      seed,
      env: envName,
      temperature,
      pages,
      loraRank,
      stepsOffPolicy,
      saveEvery,
      trainerDeadlineSeconds,
    } = config;
    const settings = smallRlSchema.parse(
      Object.fromEntries(Object.keys(smallRlSchema.shape).map((key) => [key, config[key as keyof typeof config]])),
    );
    const name = given.model ?? 'nano';
    await using model = await openPolicyModel(name, policyModelOptions({ config, given, listener, signal }));
    const rateGiven = (given as { readonly learningRate?: string }).learningRate !== undefined;
    const learningRate = rateGiven || !model.trainsAdapters(loraRank) ? settings.learningRate : ADAPTER_RATE;
    await using env = await openEnv(pages, signal);
    const versions = runVersions(env.browser.product);
    const commit = await currentCommit();
    await using run = await openRun({
      model: name,
      ...model.noted,
      commit,
      versions,
      ...asJson({ ...config, learningRate }),
    });
    // The penalty's reference is the model as it is now; training does not change it.
    await using reference = settings.beta > 0 ? await model.openSampler() : undefined;
    await using trainer = await model.createTrainer({ rank: loraRank });
    await rl({
      runSeed: seed,
      stage: 'train',
      title: `Training ${name} on ${envName}`,
      run,
      listener,
      signal,
      env,
      trainer,
      renderer: model.renderer,
      sampling: { temperature },
      sampleTasks: createTaskSampler({ env, firstSeed: trainingSeeds(seed).grpo, balanceKey }),
      config: { ...settings, learningRate },
      ...(reference === undefined ? {} : { reference }),
      ...(stepsOffPolicy === undefined ? {} : { stepsOffPolicy }),
      ...(saveEvery === undefined ? {} : { saveEvery }),
      ...(trainerDeadlineSeconds === undefined ? {} : { trainerCallMs: 1000 * trainerDeadlineSeconds }),
      ...(model.isSlow ? { rollout: { deadlines: REMOTE_DEADLINES } } : {}),
    });
    print(`${settings.steps} steps done.\nModel: ${run.dir}  (tabwright eval --model ${run.dir})`, {
      out: run.dir,
      steps: settings.steps,
    });
  },
};
