// The rubric judge: a task's facts one by one, each with its evidence, and whether what the agent claims was seen at all.
// Success is every fact and the support; as many calls as pictures and facts and one. After the evaluator of WebGym
// (arXiv 2601.02439), with prompts, replies and failure rules of our own.

import { z } from 'zod';
import { TabwrightError } from '../core/index.ts';
import { chooseEvidence } from './choose-evidence.ts';
import { claimPart, judgeLimitsSchema, logPart, pagesPart, pictureParts, pointsPart, taskPart } from './evidence.ts';
import { judgeFault } from './fault.ts';
import type { Judge, JudgeInput } from './judge.ts';
import type { JudgeModel } from './judge-model.ts';
import { askAll, makeJudge } from './make-judge.ts';
import { question } from './prompts.ts';
import { keepPictures, scorePictures, scoreQuestion } from './score-pictures.ts';
import { checkReasoning, readVerdict, verdictReply } from './verdict-reply.ts';

export const rubricJudgeConfigSchema = judgeLimitsSchema.extend({
  maxPictures: judgeLimitsSchema.shape.maxPictures.unwrap().default(48).describe('pictures that are looked at'),
  scoreThreshold: z.int().min(1).max(5).default(3).describe('pictures with this score or more reach the questions'),
  deadlineMs: z.int().positive().default(300_000).describe('milliseconds for a judgement'),
});

export type RubricJudgeOptions = Partial<z.input<typeof rubricJudgeConfigSchema>> & { readonly model: JudgeModel };

type FactVerdict = {
  readonly fact: string;
  readonly holds: boolean;
  readonly evidence: readonly string[];
  readonly reasoning: string;
};

export function createRubricJudge({ model, ...options }: RubricJudgeOptions): Judge {
  const { deadlineMs, ...config } = rubricJudgeConfigSchema.parse(options);
  const score = scoreQuestion();
  const support = question('rubric-support', verdictReply);
  const one = question(
    'rubric-fact',
    z.strictObject({ reasoning: z.string(), evidence: z.array(z.string()), holds: z.boolean() }),
  );
  return makeJudge({
    kind: 'rubric',
    model,
    questions: [score, support, one],
    settings: config,
    deadlineMs,
    async decide(input, ask) {
      const facts = (input.rubric ?? []).flatMap((group) => group.facts);
      if (facts.length === 0) {
        throw new TabwrightError('config', 'The rubric judge was given a task without a rubric: use another judge.', {
          code: 'no-rubric',
        });
      }
      const { shown, record } = chooseEvidence(input, config);
      const scored = await scorePictures({ model, ask: score, input, points: facts, pictures: shown }, ask);
      const kept = keepPictures(scored, config.scoreThreshold);
      const known = [
        logPart(input, config),
        ...pagesPart(input, config),
        ...pictureParts(kept, input.pictures.length),
        claimPart(input, config),
      ];
      const supported = readVerdict(await model.ask(support, [taskPart(input), ...known], ask));
      const names = evidenceNames(input, kept);
      const verdicts = await askAll(
        facts.map((fact) => async (signal: AbortSignal): Promise<FactVerdict> => {
          const reply = await model.ask(one, [taskPart(input), pointsPart([fact]), ...known], { ...ask, signal });
          return checkFact(fact, reply, names);
        }),
        ask.signal,
      );
      const failed = verdicts.filter(({ holds }) => !holds);
      const success = supported.verdict === 'success' && failed.length === 0;
      return {
        verdict: success ? 'success' : 'failure',
        reasoning: [supported, ...(success ? verdicts : failed)].map(({ reasoning }) => reasoning).join('\n'),
        details: {
          facts: verdicts.map(({ fact, holds, evidence }) => ({ fact, holds, evidence })),
          supported: supported.verdict === 'success',
          unmet: [...supported.unmet, ...failed.map(({ fact }) => fact)],
          scores: scored.map(({ number, score: value }) => ({ picture: number, score: value })),
          kept: kept.map(({ number }) => number),
          pictures: record,
        },
      };
    },
  });
}

/** What a reply may name: nothing that there is not. */
function evidenceNames(input: JudgeInput, kept: readonly { readonly number: number }[]): ReadonlySet<string> {
  return new Set([
    ...(input.actions ?? []).map((_, index) => `action ${index + 1}`),
    ...kept.map(({ number }) => `picture ${number}`),
    ...(input.answer === undefined ? [] : ['answer']),
  ]);
}

type FactReply = { readonly reasoning: string; readonly evidence: readonly string[]; readonly holds: boolean };

/** Refuses a fact that holds by nothing, or by something that does not exist. */
function checkFact(fact: string, { reasoning, evidence, holds }: FactReply, names: ReadonlySet<string>): FactVerdict {
  checkReasoning(reasoning);
  const strange = evidence.find((name) => !names.has(name));
  if (strange !== undefined) {
    throw judgeFault('judge-bad-reply', `The judge names ${JSON.stringify(strange)} as evidence, which there is not.`, {
      fact,
      evidence,
    });
  }
  if (holds && evidence.length === 0) {
    throw judgeFault('judge-contradiction', 'The judge says that a fact holds, and names nothing that shows it.', {
      fact,
    });
  }
  return { fact, holds, evidence, reasoning };
}
