// `tabwright collect`: a model's own episodes, to learn from with `tabwright sft`.

import { z } from 'zod';
import { trainingSeeds } from '../../experiments/index.ts';
import { collect as runCollection, createTaskSampler } from '../../train/index.ts';
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
} from '../stage-context.ts';
import { runVersions } from '../version.ts';

const schema = z.strictObject({
  ...episodeSettings,
  ...modelSettings,
  episodes: z.int().positive().max(100_000).default(400).describe('episodes, balanced by the number of wanted boxes'),
  filter: z.enum(['exact', 'lenient', 'none']).default('exact').describe('which of them count as worth imitating'),
});

export const collect: CommandSpec<typeof schema> = {
  name: 'collect',
  summary: "Collect a model's own episodes and keep those that it solved.",
  examples: ['collect --out runs/collect', 'collect --filter lenient --episodes 1000 --out runs/lenient'],
  schema,
  flags: ['model', 'baseUrl', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, openRun, print }) {
    await using model = await openPolicyModel(
      given.model ?? 'nano',
      policyModelOptions({ config, given, listener, signal }),
    );
    await using env = await openEnv(config.pages, signal);
    const versions = runVersions(env.browser.product);
    await using run = await openRun({
      model: model.name,
      ...model.noted,
      commit: await currentCommit(),
      versions,
      ...config,
    });
    await using sampler = await model.openSampler();
    const sampleTasks = createTaskSampler({ env, firstSeed: trainingSeeds(config.seed).collect, balanceKey });
    const { trajectories, rows } = await runCollection({
      runSeed: config.seed,
      stage: 'collect',
      title: `Collecting episodes of ${model.name}`,
      run,
      listener,
      signal,
      env,
      policy: { sampler, renderer: model.renderer },
      ...(model.isSlow ? { deadlines: REMOTE_DEADLINES } : {}),
      sampling: { temperature: config.temperature },
      tasks: sampleTasks(0, config.episodes),
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
