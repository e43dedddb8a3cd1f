// `tabwright train`: online group-relative policy gradient in live pages.

import { asJson } from '../../core/index.ts';
import { smallRlSchema, trainingSeeds } from '../../experiments/index.ts';
import { createTaskSampler, rl } from '../../train/index.ts';
import { currentCommit } from '../machine.ts';
import { openModel, samplerOf, trainerOf } from '../models.ts';
import type { CommandSpec } from '../run-command.ts';
import { balanceKey, episodeSettings, openEnv } from '../stage-context.ts';
import { runVersions } from '../version.ts';

const schema = smallRlSchema.safeExtend(episodeSettings);

export const train: CommandSpec<typeof schema> = {
  name: 'train',
  summary: 'Train a model online with GRPO: groups of episodes in live pages, exact reward.',
  examples: [
    'train --model runs/sft --out runs/train',
    'train --model runs/sft --steps 20 --beta 0.01 --out runs/train',
    'train --model runs/sft --out runs/train --resume',
  ],
  schema,
  flags: ['model', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, openRun, print }) {
    const { seed, env: envName, temperature, pages, ...settings } = config;
    const name = given.model ?? 'nano';
    const model = await openModel(name);
    await using env = await openEnv(pages, signal);
    const versions = runVersions(env.browser.product);
    await using run = await openRun({ model: name, commit: await currentCommit(), versions, ...asJson(config) });
    // The penalty's reference is the model as it is now; the trainer takes its own copy of the weights over.
    await using reference = settings.beta > 0 ? samplerOf(await openModel(name)) : undefined;
    await using trainer = trainerOf(model);
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
      config: settings,
      ...(reference === undefined ? {} : { reference: reference.sampler }),
    });
    print(`${settings.steps} steps done.\nModel: ${run.dir}  (tabwright eval --model ${run.dir})`, {
      out: run.dir,
      steps: settings.steps,
    });
  },
};
