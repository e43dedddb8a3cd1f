// Who says whether an episode was a success: the suite's own grader, or a judge, by the flags that commands share. A judge's
// key comes from the environment, its prices from a flag or the endpoint.

import { z } from 'zod';
import { TabwrightError } from '../core/index.ts';
import type { Judge, JudgeModel, TextJudge } from '../judges/index.ts';
import { chatAccess } from './actors.ts';
import { pricesSetting, readPrices } from './prices.ts';

export const judgeSettings = {
  reward: z
    .enum(['code', 'webjudge', 'rubric', 'outcome'])
    .optional()
    .describe('who says what was a success: the code grader, or a judge (default: code)'),
  judgeModel: z
    .string()
    .min(1)
    .optional()
    .describe('model of the judge, as its endpoint names it, e.g. openai/o4-mini; openai:<name> is at OpenAI'),
  judgeBaseUrl: z.url().optional().describe("the judge's endpoint (default: https://openrouter.ai/api/v1)"),
  judgeParallel: z.int().min(1).max(256).optional().describe('questions to the judge at a time (default: 8)'),
  judgePictures: z
    .int()
    .min(0)
    .max(1_000)
    .optional()
    .describe('pictures that it looks at; 0 for models that see none (default: 50, outcome: 8)'),
  judgePrices: pricesSetting()
    .optional()
    .describe('dollars for a million tokens in and out, where the endpoint does not say what it charges'),
  judgeCache: z.string().min(1).optional().describe('folder of earlier verdicts (default: none is kept)'),
  judgeTokens: z.int().min(16).optional().describe('most tokens of one reply, thoughts included (default: 4096)'),
  judgePlainJson: z
    .boolean()
    .optional()
    .describe('for endpoints that refuse a schema of the reply: ask for it in words only'),
} as const;

export type JudgeSettings = Readonly<z.output<z.ZodObject<typeof judgeSettings>>>;

/** Undefined where the code grader decides; judge flags without effect are refused then. */
export async function openJudge(settings: JudgeSettings, shared?: JudgeModel): Promise<Judge | undefined> {
  const { reward = 'code', judgePictures, judgeCache } = settings;
  if (reward === 'code') {
    const given = Object.keys(judgeSettings).find(
      (name) => name !== 'reward' && settings[name as 'reward'] !== undefined,
    );
    if (given === undefined) return undefined;
    const flag = `--${given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw new TabwrightError(
      'config',
      `${flag} is for a judge: add --reward webjudge or outcome (rubric where every task has one).`,
      {
        code: 'option-without-effect',
        details: { flag },
      },
    );
  }
  const judges = await import('../judges/index.ts'); // loaded by whoever asks for one
  const options = {
    model: shared ?? (await openJudgeModel(settings)),
    ...(judgePictures === undefined ? {} : { maxPictures: judgePictures }),
  };
  const create = {
    webjudge: judges.createWebJudge,
    rubric: judges.createRubricJudge,
    outcome: judges.createOutcomeJudge,
  };
  const judge = create[reward](options);
  return judgeCache === undefined ? judge : judges.withJudgeCache(judge, { folder: judgeCache });
}

export type GraderJudges = { readonly text: TextJudge; readonly episode: Judge; readonly rubric: Judge };

/** For graders that ask several; one model, so that its limits are of all of them. Undefined where no model is named. */
export async function openGraderJudges(settings: JudgeSettings): Promise<GraderJudges | undefined> {
  if (settings.judgeModel === undefined) return undefined;
  const { createTextJudge } = await import('../judges/index.ts');
  const model = await openJudgeModel(settings);
  const [episode, rubric] = await Promise.all([
    openJudge({ ...settings, reward: 'outcome' }, model),
    openJudge({ ...settings, reward: 'rubric' }, model),
  ]);
  return { text: createTextJudge({ model }), episode: episode!, rubric: rubric! }; // a reward but code has one
}

async function openJudgeModel(settings: JudgeSettings): Promise<JudgeModel> {
  const { judgeModel, judgeBaseUrl, judgeParallel, judgePrices, judgeTokens, judgePlainJson = false } = settings;
  if (judgeModel === undefined) {
    throw new TabwrightError('config', 'A judge needs a model: name it with --judge-model.', {
      code: 'no-judge-model',
    });
  }
  const { createChatEndpoint } = await import('../chat/index.ts');
  const { createJudgeModel } = await import('../judges/index.ts');
  const [service, model] = judgeModel.startsWith('openai:')
    ? (['openai', judgeModel.slice('openai:'.length)] as const)
    : (['openrouter', judgeModel.replace(/^openrouter:/, '')] as const);
  return createJudgeModel({
    endpoint: createChatEndpoint({ model, ...(await chatAccess(service, judgeBaseUrl)), ...PATIENCE }),
    structuredOutput: !judgePlainJson,
    ...(judgeParallel === undefined ? {} : { concurrency: judgeParallel }),
    ...(judgeTokens === undefined ? {} : { maxTokens: judgeTokens }),
    ...(judgePrices === undefined ? {} : { prices: readPrices(judgePrices) }),
  });
}

/** Models that think over many pictures take their time. */
const PATIENCE = { attemptMs: 150_000, deadlineMs: 280_000 };
