// Files of tasks that others wrote: reading them, what is wrong with them, dividing them, grading them.

export { readRows, parseRows, type FileRow, type FileRows, type RowContainer } from './read-rows.ts';
export { loadTasks, readTaskFile, type ReadTaskFileOptions, type RowProblem, type TaskFile } from './load.ts';
export {
  TASK_FORMATS,
  type Check,
  type LoadedTask,
  type TaskFormat,
  type TaskNeeds,
  type TaskQuestion,
} from './loaded-task.ts';
export { describeProblem, type FieldProblem } from './row-problems.ts';
export { findSites, placeholdersOf, withSites, type SiteSources, type SiteUrls } from './sites.ts';
export { domainOf, splitTasks, type SplitOptions, type TaskSplit } from './split.ts';
export * from './grade/index.ts';
export * from './live/index.ts';
export { takeSnapshot, type TakeSnapshotOptions } from './take-snapshot.ts';
export { taskFileVerifier, webTasksOf, type TaskFileVerifierOptions, type TaskJudges } from './verifier.ts';
export { countsOf, needsOf, unsupportedOf, type TaskCounts, type Unsupported } from './summary.ts';
