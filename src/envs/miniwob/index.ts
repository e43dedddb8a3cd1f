// MiniWoB++: its real pages as a suite of 125 tasks.

export {
  findMiniwobContent,
  keepMiniwobContent,
  MINIWOB_VERSION,
  type FindContentOptions,
  type MiniwobContent,
} from './content.ts';
export { measureEpisode, type MeasuredEpisode, type MiniwobPolicy } from './measure.ts';
export type { MiniwobEpisode, MiniwobTruth } from './episode.ts';
export { MINIWOB_ORACLES, playOracle, type Oracle } from './oracles/index.ts';
export type { DataMode } from './page-script.ts';
export { MINIWOB_POLICIES } from './policies.ts';
export { describeMiniwob } from './description.ts';
export { createMiniwobSuite, MINIWOB, type MiniwobEnv, type MiniwobSuite, type MiniwobSuiteOptions } from './suite.ts';
export { MINIWOB_TASKS, miniwobTask, type MiniwobTask } from './tasks.ts';
export { MINIWOB_TOOLS } from './tools.ts';
