// What runs add up to: failure analysis, comparisons between stages, and the report of a run.

export { classifyFailure, FAILURE_CLASSES, type Failure, type FailureClass } from './failure-classes.ts';
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
