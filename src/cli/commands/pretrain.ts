// `tabwright pretrain`: makes a base model like the shipped `nano` from nothing, on generated lessons.

import { z } from 'zod';
import { EmbeddedTrainer, type ModelConfig } from '../../engine/index.ts';
import type { Sampler } from '../../core/index.ts';
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
import { asJson, openRun, type CommandSpec } from '../run-command.ts';

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
  seed: z.int().nonnegative().default(1).describe('of the weights and the lessons'),
  mix: z
    .strictObject({
      click: z.number().nonnegative().default(0.62).describe('share of "Click X."'),
      isChecked: z.number().nonnegative().default(0.18).describe('share of "Is X checked?"'),
      whichOf: z.number().nonnegative().default(0.17).describe('share of "Which of a, b is not checked?"'),
      selectThen: z.number().nonnegative().default(0.03).describe('share of "Select X and click OK."'),
    })
    .refine((shares) => Object.values(shares).some((share) => share > 0), 'at least one share must be above 0')
    .prefault({}),
  ...pretrainConfigSchema.shape,
});

/** Lessons that accuracy is measured on; training never reaches their seeds. */
const HELD_OUT_SEED = 2 ** 40;
const HELD_OUT_COUNT = 400;

export const pretrain: CommandSpec<typeof schema> = {
  name: 'pretrain',
  summary: 'Make a base model like nano from scratch, on generated pages and sentences.',
  examples: ['pretrain --out runs/base', 'pretrain --seed 2 --steps 600 --mix.select-then 0.1 --out runs/base'],
  schema,
  flags: ['out', 'overwrite'],
  async action({ config, given, listener, signal, print }) {
    const { seed, mix, ...settings } = config;
    const shares: LessonMix = {
      click: mix.click,
      'is-checked': mix.isChecked,
      'which-of': mix.whichOf,
      'select-then': mix.selectThen,
    };
    await using run = await openRun('pretrain', given, {
      command: 'pretrain',
      commit: await currentCommit(),
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
        return lessonAccuracy(sampler, shares, signal);
      },
    });
    const path = run.checkpointPath('model');
    await trainer.saveWeightsForSampler(path, { signal });
    print(`Model: ${path}  (tabwright eval --model ${path})`, { model: path });
  },
};

/**
 * A lesson as tokens. At each reference of the page the model is told to say `<end>` when that control is what the
 * lesson is about: matching names is then learned at every line, not only through the one answer at the end.
 */
function lessonRow({ instruction, page, answer, subject }: Lesson): PretrainRow {
  const prompt = createNanoRenderer().render({ instruction, tools: [], past: [], observation: { page } });
  const hints = nanoReferences(prompt).map(({ position, reference }) => {
    return { position, target: reference === subject ? nanoControlId('<end>') : prompt[position + 1] };
  });
  return { prompt, answer: nanoReply(answer), hints };
}

/** Share of held-out lessons that the model answers exactly, by kind, without sampling noise. */
async function lessonAccuracy(sampler: Sampler, mix: LessonMix, signal: AbortSignal): Promise<Record<string, number>> {
  const stop = [nanoControlId('<end>')];
  const counts = new Map(LESSON_KINDS.map((kind) => [kind, { right: 0, all: 0 }]));
  await Promise.all(
    Array.from({ length: HELD_OUT_COUNT }, async (_, i) => {
      const lesson = createLesson(HELD_OUT_SEED + i, mix);
      const { prompt, answer } = lessonRow(lesson);
      const [reply] = await sampler.sample(
        { prompt, numSamples: 1, params: { maxTokens: 8, temperature: 0, stop } },
        { signal },
      );
      const count = counts.get(lesson.kind)!;
      count.all++;
      if (reply.tokens.join() === answer.join()) count.right++;
    }),
  );
  return Object.fromEntries(
    [...counts].filter(([, { all }]) => all > 0).map(([kind, { right, all }]) => [`accuracy/${kind}`, right / all]),
  );
}
