// WebJudge: the task's requirements, then how much each picture tells, then the verdict over those that tell enough; as
// many calls as pictures and two. After Xue et al. 2025 (arXiv 2504.01382), with prompts, replies and failure rules of our own.

import { z } from 'zod';
import {
  claimPart,
  criteriaPart,
  judgeLimitsSchema,
  logPart,
  pagesPart,
  pictureParts,
  pointsPart,
  taskPart,
} from './evidence.ts';
import { judgeFault } from './fault.ts';
import type { Judge } from './judge.ts';
import type { JudgeModel } from './judge-model.ts';
import { makeJudge } from './make-judge.ts';
import { chooseEvidence } from './choose-evidence.ts';
import { question, readPrompt } from './prompts.ts';
import { keepPictures, scorePictures, scoreQuestion } from './score-pictures.ts';
import { readVerdict, verdictReply } from './verdict-reply.ts';

export const webJudgeConfigSchema = judgeLimitsSchema.extend({
  scoreThreshold: z.int().min(1).max(5).default(3).describe('pictures with this score or more reach the verdict'),
  deadlineMs: z.int().positive().default(300_000).describe('milliseconds for a judgement'),
});

export type WebJudgeOptions = Partial<z.input<typeof webJudgeConfigSchema>> & { readonly model: JudgeModel };

const MAX_POINTS = 30;

export function createWebJudge({ model, ...options }: WebJudgeOptions): Judge {
  const { deadlineMs, ...config } = webJudgeConfigSchema.parse(options);
  const points = question('key-points', z.strictObject({ points: z.array(z.string()) }));
  const score = scoreQuestion();
  const verdict = question('webjudge-verdict', verdictReply);
  const ownCriteria = readPrompt('criteria');
  return makeJudge({
    kind: 'webjudge',
    model,
    questions: [points, score, verdict],
    settings: config,
    deadlineMs,
    async decide(input, ask) {
      const { shown, record } = chooseEvidence(input, config);
      const { points: listed } = await model.ask(points, [taskPart(input)], ask);
      const keyPoints = listed.map((point) => point.trim()).filter((point) => point !== '');
      if (keyPoints.length === 0 || keyPoints.length > MAX_POINTS) {
        throw judgeFault('judge-bad-reply', `The judge found ${keyPoints.length} requirements in the task.`);
      }
      const scored = await scorePictures({ model, ask: score, input, points: keyPoints, pictures: shown }, ask);
      const kept = keepPictures(scored, config.scoreThreshold);
      const material = [
        taskPart(input),
        pointsPart(keyPoints),
        criteriaPart(input.criteria ?? ownCriteria),
        logPart(input, config),
        ...pagesPart(input, config),
        ...pictureParts(kept, input.pictures.length),
        claimPart(input, config),
      ];
      const { unmet, ...decided } = readVerdict(await model.ask(verdict, material, ask));
      return {
        ...decided,
        details: {
          keyPoints,
          scores: scored.map(({ number, score: value }) => ({ picture: number, score: value })),
          kept: kept.map(({ number }) => number),
          unmet,
          pictures: record,
        },
      };
    },
  });
}
