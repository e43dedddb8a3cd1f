// Pure maths of learning: no I/O, no clock, no environment.

export { groupAdvantages, isMixed, type GroupAdvantageOptions } from './advantages.ts';
export { aggregate, type Aggregation } from './aggregation.ts';
export {
  accepts,
  demonstrationData,
  demonstrations,
  worthImitating,
  type Demonstration,
  type DemonstrationOptions,
  type EpisodeFilter,
} from './demonstrations.ts';
export { applyKlPenalty, type KlPenaltyOptions } from './kl-penalty.ts';
export { createGspoLoss, lossValue, RATIO_BOUNDS, type GspoOptions, type LossTerms, type LossValue } from './losses.ts';
export { mismatchMetrics } from './mismatch.ts';
export { groupMetrics, rolloutMetrics } from './rollout-metrics.ts';
export { countActionTokens, policyDatum, trajectoryToRows, type PolicyRow, type SampledTurn } from './rows.ts';
export { learningRateAt, type Schedule } from './schedules.ts';
