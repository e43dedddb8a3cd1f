// `tabwright pretrain`: makes a base model like the shipped `nano` from nothing, on generated lessons.

import { z } from 'zod';
import { EmbeddedTrainer, type ModelConfig } from '../../engine/index.ts';
import { asJson, type Sampler } from '../../core/index.ts';
import { createLesson, LESSON_KINDS, LESSON_LEVELS, type Lesson, type LessonMix } from '../../envs/index.ts';
import {
  createNanoRenderer,
  nanoControlId,
  nanoReferences,
  nanoReply,
  NANO_VOCABULARY_SIZE,
} from '../../tokens/index.ts';
import { pretrain as runPretraining, pretrainConfigSchema, type PretrainRow } from '../../train/index.ts';
import { currentCommit } from '../machine.ts';
import { PROGRAM } from '../program-name.ts';
import type { CommandSpec } from '../run-command.ts';
import { runVersions } from '../version.ts';

/** Shape of `nano`. */
const NANO_SHAPE: ModelConfig = {
  vocabSize: NANO_VOCABULARY_SIZE,
  hiddenSize: 128,
  layers: 4,
  heads: 4,
  kvHeads: 4,
  headDim: 32,
  intermediateSize: 344,
  ropeTheta: 10000,
  rmsNormEps: 1e-5,
  tieEmbeddings: true,
  taps: 4,
  maxPositions: 512,
};

const schema = z.strictObject({
  seed: z.int().nonnegative().max(1023).default(2).describe('of the weights and the lessons'),
  mix: z
    .strictObject({
      click: z.number().nonnegative().default(0.42).describe('share of "Click X."'),
      isChecked: z.number().nonnegative().default(0.12).describe('share of "Is X checked?"'),
      whichOf: z.number().nonnegative().default(0.45).describe('share of "Which of a, b is on the page?"'),
      selectThen: z.number().nonnegative().default(0.01).describe('share of "Select X and click OK."'),
    })
    .refine((shares) => Object.values(shares).some((share) => share > 0), 'at least one share must be above 0')
    .prefault({}),
  ...pretrainConfigSchema.shape,
});

/** Lessons that accuracy is measured on; training, whose seeds lie below 1024 times 2^30, never reaches them. */
const HELD_OUT_SEED = 2 ** 40;
const HELD_OUT_PER_KIND = 100;
const NO_LESSONS: LessonMix = { click: 0, 'is-checked': 0, 'which-of': 0, 'select-then': 0 };

export const pretrain: CommandSpec<typeof schema> = {
  name: 'pretrain',
  summary: 'Make a base model like nano from scratch, on generated pages and sentences.',
  examples: ['pretrain --out runs/base', 'pretrain --seed 2 --steps 600 --mix.select-then 0.1 --out runs/base'],
  schema,
  flags: ['out', 'overwrite'],
  async action({ config, listener, signal, openRun, print }) {
    const { seed, mix, ...settings } = config;
    const shares: LessonMix = {
      click: mix.click,
      'is-checked': mix.isChecked,
      'which-of': mix.whichOf,
      'select-then': mix.selectThen,
    };
    await using run = await openRun({
      commit: await currentCommit(),
      versions: runVersions(),
      shape: NANO_SHAPE,
      ...asJson(config),
    });
    // One thread: the same weights on any number of cores, and on two hardly slower.
    await using trainer = EmbeddedTrainer.fresh(NANO_SHAPE, seed, { threads: 1, scored: 'weighted' });
    const rows = (index: number, level: number): PretrainRow =>
      lessonRow(createLesson(seed * 2 ** 30 + index, shares, level));
    await runPretraining({
      stage: 'pretrain',
      title: `Pretraining ${trainer.trainableCount} weights`,
      run,
      listener,
      signal,
      trainer,
      rows,
      levels: LESSON_LEVELS,
      config: settings,
      inspect: async () => {
        await using sampler = await trainer.saveWeightsAndGetSampler({ signal });
        return lessonAccuracy(sampler, signal);
      },
    });
    const path = run.checkpointPath('model');
    await trainer.saveWeightsForSampler(path, { signal });
    const { step } = trainer;
    run.appendCheckpoint({ name: 'model', stage: 'pretrain', batch: step, sampler_path: 'model', final: true });
    print(`Model: ${path}  (${PROGRAM} eval --model ${path})`, { model: path });
  },
};

/**
 * A lesson as tokens. Where the name of the control that it is about ends, and at that control's reference, the model
 * is told to say `<end>`: matching names is then learned at every line, not only through the one answer at the end.
 */
function lessonRow({ instruction, page, answer, subject }: Lesson): PretrainRow {
  const prompt = createNanoRenderer().render({ instruction, tools: [], past: [], observation: { page } });
  const end = nanoControlId('<end>');
  const hints = nanoReferences(prompt).flatMap(({ position, nameEnd, reference }) =>
    reference === subject
      ? [nameEnd, position].map((at) => ({ position: at, target: end }))
      : [{ position, target: prompt[position + 1] }],
  );
  return { prompt, answer: nanoReply(answer), hints };
}

/** Share of held-out lessons that the model answers exactly, by kind, without sampling noise. */
async function lessonAccuracy(sampler: Sampler, signal: AbortSignal): Promise<Record<string, number>> {
  const stop = [nanoControlId('<end>')];
  const accuracies = LESSON_KINDS.map(async (kind): Promise<[string, number]> => {
    const right = await Promise.all(
      Array.from({ length: HELD_OUT_PER_KIND }, async (_, i) => {
        const { prompt, answer } = lessonRow(createLesson(HELD_OUT_SEED + i, { ...NO_LESSONS, [kind]: 1 }));
        const params = { maxTokens: 8, temperature: 0, stop };
        const [reply] = await sampler.sample({ prompt, numSamples: 1, params }, { signal });
        return reply.tokens.join() === answer.join();
      }),
    );
    return [`accuracy/${kind}`, right.filter(Boolean).length / HELD_OUT_PER_KIND];
  });
  return Object.fromEntries(await Promise.all(accuracies));
}
