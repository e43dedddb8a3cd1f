// `tabwright collect`: a model's own episodes, or demonstrations in its words, to learn from with `tabwright sft`.

import { z } from 'zod';
import { asJson } from '../../core/index.ts';
import { trainingSeeds } from '../../experiments/index.ts';
import { collect as runCollection } from '../../train/index.ts';
import { openEnvironment } from '../environments.ts';
import { currentCommit } from '../machine.ts';
import { openPolicyModel } from '../policy-model.ts';
import type { CommandSpec } from '../run-command.ts';
import { modelSettings, policyModelOptions } from '../stage-context.ts';
import { balanceKey, collectionTasks, playSettings, refuseReplyFlag, rolloutLimits } from '../training-environment.ts';
import { runVersions } from '../version.ts';

const schema = z.strictObject({
  ...playSettings,
  ...modelSettings,
  episodes: z.int().positive().max(100_000).default(400).describe('episodes, balanced by the number of wanted boxes'),
  teacher: z
    .string()
    .min(1)
    .optional()
    .describe("a policy of the environment that acts in the model's place, such as oracle (default: none)"),
  filter: z.enum(['exact', 'lenient', 'none']).default('exact').describe('which of them count as worth imitating'),
});

export const collect: CommandSpec<typeof schema> = {
  name: 'collect',
  summary: "Collect a model's own episodes and keep those that it solved.",
  examples: [
    'collect --out runs/collect',
    'collect --filter lenient --episodes 1000 --out runs/lenient',
    'collect --teacher oracle --model hf:HuggingFaceTB/SmolLM2-135M-Instruct --out runs/shown',
    'collect --env agent_auth --model tinker:Qwen/Qwen3.6-35B-A3B --out runs/auth',
  ],
  schema,
  flags: ['model', 'baseUrl', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, openRun, print }) {
    await using opened = await openEnvironment({ config, signal });
    refuseReplyFlag(opened, config);
    const teacher = config.teacher === undefined ? undefined : opened.policy(config.teacher);
    await using model = await openPolicyModel(
      given.model ?? 'nano',
      policyModelOptions({ config, given, listener, signal, replyTokens: opened.turnTokens }),
    );
    await using run = await openRun({
      model: model.name,
      ...model.noted,
      commit: await currentCommit(),
      versions: runVersions(opened.product),
      ...asJson(config),
      ...opened.noted,
      reward: opened.reward,
    });
    await using sampler = await model.openSampler();
    const firstSeed = trainingSeeds(config.seed).collect;
    const { trajectories, rows } = await runCollection({
      runSeed: config.seed,
      stage: 'collect',
      title: `Collecting episodes of ${teacher === undefined ? model.name : `${config.teacher} for ${model.name}`}`,
      run,
      listener,
      signal,
      env: teacher?.env ?? opened.env,
      ...(teacher === undefined ? {} : { teacher: teacher.actor }),
      policy: { sampler, renderer: model.renderer },
      ...rolloutLimits(opened, model.isSlow),
      sampling: { temperature: config.temperature },
      tasks: collectionTasks({ opened, runSeed: config.seed, firstSeed }, config.episodes),
      filter: config.filter,
      balanceKey: (trajectory) => balanceKey(trajectory.task),
    });
    print(
      `${rows.length} rows worth imitating from ${trajectories.length} episodes.\nEpisodes: ${run.dir}/rollouts/collect.jsonl`,
      {
        out: run.dir,
        episodes: trajectories.length,
        rows: rows.length,
      },
    );
  },
};
