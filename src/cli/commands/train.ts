// `tabwright train`: online group-relative policy gradient in live pages, in this process or on a Tinker server.

import { z } from 'zod';
import { asJson, TabwrightError } from '../../core/index.ts';
import { smallRlSchema, trainingSeeds } from '../../experiments/index.ts';
import { rl, supervisedRate } from '../../train/index.ts';
import { openEnvironment } from '../environments.ts';
import { currentCommit } from '../machine.ts';
import { PROGRAM } from '../program-name.ts';
import { openPolicyModel, type PolicyModel } from '../policy-model.ts';
import type { CommandSpec } from '../run-command.ts';
import { modelSettings, policyModelOptions, trainerDeadline } from '../stage-context.ts';
import { describeTraining } from '../train-plan.ts';
import {
  dividedSettings,
  evaluationTasks,
  openMeasured,
  playSettings,
  refuseReplyFlag,
  rolloutLimits,
  trainingTasks,
} from '../training-environment.ts';
import { runVersions } from '../version.ts';

/** Of adapters, as tinker-cookbook's default for policy gradients; every weight of a small model takes far more. */
export const ADAPTER_RATE = 4e-5;

export const trainSchema = smallRlSchema.safeExtend({
  ...playSettings,
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
  anyLearningRate: z.boolean().default(false).describe('allow adapters a rate as high as supervised fine-tuning takes'),
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
  evalTasks: z
    .string()
    .min(1)
    .optional()
    .describe(
      'measure these on the way: test, train, all, <environment>:<split>, or a file of tasks (default: nothing)',
    ),
  evalEvery: z.int().positive().optional().describe('steps between two measurements (default: 10)'),
  evalEpisodes: z
    .int()
    .positive()
    .optional()
    .describe('tasks of a measurement (default: all, 64 of those without end)'),
  dryRun: z.boolean().default(false).describe('say what would be done, and ask nobody'),
});

const EVAL_EVERY = 10;

export const train: CommandSpec<typeof trainSchema> = {
  name: 'train',
  summary: 'Train a model online with GRPO: groups of episodes in live pages, exact reward.',
  examples: [
    'train --model runs/sft --out runs/train',
    'train --model runs/sft --steps 20 --beta 0.01 --out runs/train',
    'train --model runs/sft --out runs/train --resume',
    'train --model tinker:nano --base-url http://127.0.0.1:8000 --lora-rank 32 --out runs/train',
    'train --env agent_auth --tool browser_repl --model tinker:Qwen/Qwen3.6-35B-A3B --pool rl-training --eval-tasks test --dry-run',
  ],
  schema: trainSchema,
  flags: ['model', 'baseUrl', 'out', 'resume', 'overwrite'],
  async action({ config, given, listener, signal, openRun, print }) {
    const { seed, temperature, loraRank, stepsOffPolicy, saveEvery, trainerDeadlineSeconds, dryRun, evalTasks } =
      config;
    const { evalEvery, evalEpisodes } = config;
    const { dryRun: _, ...noted } = config;
    if (evalTasks === undefined && (evalEvery ?? evalEpisodes) !== undefined) {
      throw new TabwrightError('config', '--eval-every and --eval-episodes are for --eval-tasks: say which tasks.', {
        code: 'option-without-effect',
      });
    }
    const name = given.model ?? 'nano';
    const rateGiven = (given as { readonly learningRate?: string }).learningRate !== undefined;
    if (dryRun) {
      const plan = await describeTraining({ name, config, given, rateGiven, adapterRate: ADAPTER_RATE, signal });
      print(plan.text, plan.data);
      return;
    }
    const divided = dividedSettings(config);
    await using opened = await openEnvironment({ config: divided.training, signal });
    refuseReplyFlag(opened, config);
    await using model = await openPolicyModel(
      name,
      policyModelOptions({ config, given, listener, signal, replyTokens: opened.turnTokens }),
    );
    const loop = smallRlSchema.parse(
      Object.fromEntries(Object.keys(smallRlSchema.shape).map((key) => [key, config[key as keyof typeof config]])),
    );
    const learningRate = rateGiven || !model.trainsAdapters(loraRank) ? loop.learningRate : ADAPTER_RATE;
    if (!config.anyLearningRate) refuseSupervisedRate(model, loraRank, learningRate);
    const sampleTasks = trainingTasks({ opened, runSeed: seed, firstSeed: trainingSeeds(seed).grpo });
    sampleTasks(0, loop.groups); // too few tasks are told before anything is made
    await using measured = await openMeasured(opened, { config: divided.measured, signal });
    const evaluation =
      measured === undefined
        ? {}
        : {
            evaluation: {
              env: measured.env,
              tasks: evaluationTasks(measured.from, measured.source, evalEpisodes),
              every: evalEvery ?? EVAL_EVERY,
              rollout: rolloutLimits(measured.from, model.isSlow),
            },
          };
    const commit = await currentCommit();
    await using run = await openRun({
      model: name,
      ...model.noted,
      commit,
      versions: runVersions(opened.product),
      ...asJson({ ...noted, learningRate }),
      ...opened.noted,
      renderer: model.renderer.name,
      reward: opened.reward,
    });
    // The penalty's reference is the model as it is now; training does not change it.
    await using reference = loop.beta > 0 ? await model.openSampler() : undefined;
    await using trainer = await model.createTrainer({ rank: loraRank });
    await rl({
      runSeed: seed,
      stage: 'train',
      title: `Training ${name} on ${opened.env.name}, reward by ${opened.reward}`,
      run,
      listener,
      signal,
      env: opened.env,
      trainer,
      renderer: model.renderer,
      sampling: { temperature },
      sampleTasks,
      config: { ...loop, learningRate },
      labels: { reward_source: opened.reward },
      ...evaluation,
      ...(reference === undefined ? {} : { reference }),
      ...(stepsOffPolicy === undefined ? {} : { stepsOffPolicy }),
      ...(saveEvery === undefined ? {} : { saveEvery }),
      ...(trainerDeadlineSeconds === undefined ? {} : { trainerCallMs: 1000 * trainerDeadlineSeconds }),
      rollout: rolloutLimits(opened, model.isSlow),
    });
    print(`${loop.steps} steps done.\nModel: ${run.dir}  (${PROGRAM} eval --model ${run.dir})`, {
      out: run.dir,
      steps: loop.steps,
      reward: opened.reward,
    });
  },
};

/** Where there is a rule for imitation, a policy gradient stays below what it gives. */
function refuseSupervisedRate(model: PolicyModel, rank: number | undefined, learningRate: number): void {
  if (model.shape === undefined || !model.trainsAdapters(rank)) return;
  let rate: number;
  try {
    rate = supervisedRate({ name: model.name, ...model.shape, adapters: true });
  } catch (error) {
    if (error instanceof TabwrightError && error.code === 'no-supervised-rate') return; // a family without a rule
    throw error;
  }
  // By rule some models take less than others do anyway; only what is as high as imitation's is a mistake.
  if (learningRate < rate / 2 || learningRate <= ADAPTER_RATE) return;
  throw new TabwrightError(
    'config',
    `--learning-rate ${learningRate} is what supervised fine-tuning of ${model.name} takes (${rate.toPrecision(2)} by rule), and ` +
      `ruins a policy gradient: give about ${ADAPTER_RATE}, or --any-learning-rate.`,
    { code: 'supervised-rate', details: { learningRate, supervised: rate } },
  );
}
