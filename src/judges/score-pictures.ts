// How much each picture of an episode tells, one question a picture. A score that cannot be read makes the judgement
// invalid: evidence must not vanish without a trace.

import { z } from 'zod';
import { pictureParts, pointsPart, taskPart } from './evidence.ts';
import type { JudgeInput } from './judge.ts';
import type { AskOptions, JudgeModel } from './judge-model.ts';
import { askAll } from './make-judge.ts';
import type { ShownPicture } from './pictures.ts';
import { question } from './prompts.ts';
import { checkReasoning } from './verdict-reply.ts';

export const scoreQuestion = () =>
  question('score-picture', z.strictObject({ reasoning: z.string(), score: z.literal([1, 2, 3, 4, 5]) }));

export type ScoredPicture = ShownPicture & { readonly score: number; readonly note: string };

export type ScorePicturesOptions = {
  readonly model: JudgeModel;
  readonly ask: ReturnType<typeof scoreQuestion>;
  readonly input: JudgeInput;
  readonly points: readonly string[];
  readonly pictures: readonly ShownPicture[];
};

export function scorePictures(
  { model, ask, input, points, pictures }: ScorePicturesOptions,
  { signal, spend }: AskOptions,
): Promise<readonly ScoredPicture[]> {
  const asks = pictures.map((picture) => async (inner: AbortSignal): Promise<ScoredPicture> => {
    const material = [
      taskPart(input),
      ...(points.length === 0 ? [] : [pointsPart(points)]),
      ...pictureParts([picture], input.pictures.length),
    ];
    const { reasoning, score } = await model.ask(ask, material, { signal: inner, spend });
    checkReasoning(reasoning);
    return { ...picture, score, note: reasoning };
  });
  return askAll(asks, signal);
}

/** Those that tell enough, and the last one whatever it tells: it is how the episode ended. */
export function keepPictures(scored: readonly ScoredPicture[], threshold: number): readonly ScoredPicture[] {
  return scored.filter(({ score }, index) => score >= threshold || index === scored.length - 1);
}
