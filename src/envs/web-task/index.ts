// Tasks on any website, through the one tool `browser_repl`.

export { webTaskConfigSchema, type WebTaskConfig } from './config.ts';
export {
  createWebTaskEnv,
  WEB_TASK,
  webTask,
  type BeginOptions,
  type BegunEpisode,
  type WebInstance,
  type WebTaskEnvOptions,
  type WebTaskSpec,
} from './env.ts';
export { judgingOf, type TaskJudging } from './task-judging.ts';
export { judgeTrajectoryInput, type JudgeTrajectoryOptions } from './judge-trajectory.ts';
export {
  judgedVerdict,
  judgeInput,
  judgeVerifier,
  type JudgeInputOptions,
  type JudgeVerifierOptions,
} from './judge-verifier.ts';
export type { EpisodeEnd, Verdict, Verifier } from './verifier.ts';
