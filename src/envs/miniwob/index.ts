// MiniWoB++: its real pages as a suite of 125 tasks.

export {
  findMiniwobContent,
  keepMiniwobContent,
  MINIWOB_VERSION,
  type FindContentOptions,
  type MiniwobContent,
} from './content.ts';
export type { MiniwobEpisode, MiniwobTruth } from './episode.ts';
export type { DataMode } from './page-script.ts';
export { createMiniwobSuite, MINIWOB, type MiniwobEnv, type MiniwobSuite, type MiniwobSuiteOptions } from './suite.ts';
export { MINIWOB_TASKS, miniwobTask, type MiniwobTask } from './tasks.ts';
export { MINIWOB_TOOLS } from './tools.ts';
