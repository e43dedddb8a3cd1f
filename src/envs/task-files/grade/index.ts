// Graders: what task files ask for, in code.

export { applyCheck, gradeSnapshot, targetKey, type AskJudge, type Grade, type GradeOptions } from './grade.ts';
export { eventOfExchange, type Exchange } from './exchange.ts';
export { networkEventsOfHar } from './har.ts';
export type { CheckResult, JudgeQuestion, NetworkEvent, Snapshot } from './snapshot.ts';
