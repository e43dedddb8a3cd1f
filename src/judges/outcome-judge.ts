// The plain judge: one question with everything that is known, one verdict. The cheapest, and the least careful with many
// pictures.

import { z } from 'zod';
import { chooseEvidence } from './choose-evidence.ts';
import { claimPart, criteriaPart, judgeLimitsSchema, logPart, pagesPart, pictureParts, taskPart } from './evidence.ts';
import type { Judge } from './judge.ts';
import type { JudgeModel } from './judge-model.ts';
import { makeJudge } from './make-judge.ts';
import { question, readPrompt } from './prompts.ts';
import { readVerdict, verdictReply } from './verdict-reply.ts';

export const outcomeJudgeConfigSchema = judgeLimitsSchema.extend({
  maxPictures: judgeLimitsSchema.shape.maxPictures
    .unwrap()
    .default(8)
    .describe('pictures of an episode that are shown'),
  deadlineMs: z.int().positive().default(180_000).describe('milliseconds for a judgement'),
});

export type OutcomeJudgeOptions = Partial<z.input<typeof outcomeJudgeConfigSchema>> & { readonly model: JudgeModel };

export function createOutcomeJudge({ model, ...options }: OutcomeJudgeOptions): Judge {
  const { deadlineMs, ...config } = outcomeJudgeConfigSchema.parse(options);
  const verdict = question('outcome-verdict', verdictReply);
  const ownCriteria = readPrompt('criteria');
  return makeJudge({
    kind: 'outcome',
    model,
    questions: [verdict],
    settings: config,
    deadlineMs,
    async decide(input, ask) {
      const { shown, record } = chooseEvidence(input, config);
      const material = [
        taskPart(input),
        criteriaPart(input.criteria ?? ownCriteria),
        logPart(input, config),
        ...pagesPart(input, config),
        ...pictureParts(shown, input.pictures.length),
        claimPart(input, config),
      ];
      const { unmet, ...decided } = readVerdict(await model.ask(verdict, material, ask));
      return { ...decided, details: { unmet, pictures: record } };
    },
  });
}
