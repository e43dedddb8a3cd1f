// What runs add up to: failure analysis, comparisons between stages, and the report of a run.

export { baselinePage, baselineTables } from './baselines.ts';
export { buildEvaluation, type EvaluationInput } from './evaluation.ts';
export { planEvaluation, type PlannedEpisode, type PlannableTask, type PlanOptions } from './evaluation-plan.ts';
export { playEvaluation, type PlayedEvaluation, type PlayEvaluationOptions } from './evaluation-play.ts';
export {
  evaluationSchema,
  readEvaluation,
  stampEvaluation,
  type EvaluatedEpisode,
  type Evaluation,
  type EvaluationFigures,
  type EvaluationSummary,
} from './evaluation-schema.ts';
export type { Prices } from './evaluation-spending.ts';
export { CHART_SIZE, trainingChart } from './chart-training.ts';
export { compareEvaluations, type ComparisonOptions, type EvaluationComparison } from './comparison.ts';
export { classifyFailure, FAILURE_CLASSES, type Failure, type FailureClass } from './failure-classes.ts';
export {
  describeJudgeFigures,
  describeRate,
  figuresJson,
  judgeFigures,
  type JudgedRow,
  type JudgeFigures,
  type Rate,
} from './judge-figures.ts';
export { runQuickstart, type QuickstartParts } from './quickstart.ts';
export {
  EVAL_FIRST_SEED,
  quickstartConfigSchema,
  smallRlSchema,
  smallSftSchema,
  trainingSeeds,
  type QuickstartConfig,
} from './quickstart-config.ts';
export { chooseReplays, type Replay, type ReplayChoice } from './replays.ts';
export { buildReport, type EvaluatedStage, type ReportInput } from './report.ts';
export { renderReportHtml, type ReportPageParts } from './report-html.ts';
export {
  REPORT_VERSION,
  reportSchema,
  type Comparison,
  type Machine,
  type PeakMemory,
  type Report,
  type StageReport,
} from './report-schema.ts';
export { readTrainingCurve, type CurveMetric, type CurvePoint, type TrainingCurve } from './training-curve.ts';
export { describeSwitching, switching, type Switching, type SwitchingOptions } from './switching.ts';
