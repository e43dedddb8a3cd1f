// Judges: verdicts of models on episodes that the host watched, and on answers alone.

export type { Judge, JudgeInput, JudgeKind, Judgement, RubricGroup } from './judge.ts';
export { judgeFault } from './fault.ts';
export { createJudgeModel, type AskOptions, type JudgeModel, type JudgeModelOptions } from './judge-model.ts';
export { inputHash, judgementKey, withJudgeCache, type JudgeCacheOptions } from './judge-cache.ts';
export { createOutcomeJudge, type OutcomeJudgeOptions } from './outcome-judge.ts';
export { createRubricJudge, type RubricJudgeOptions } from './rubric-judge.ts';
export { addSpending, NOTHING_SPENT, type JudgePrices, type JudgeSpending } from './spending.ts';
export { createTextJudge, type TextJudge, type TextJudgeOptions } from './text-judge.ts';
export { createWebJudge, type WebJudgeOptions } from './web-judge.ts';
