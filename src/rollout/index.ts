// Runs episodes and groups of them against an environment and a policy, both by interface.

export { DEFAULT_DEADLINES, type Deadlines, type OperationKind } from './operations.ts';
export type { EpisodeRequest, Screenshots } from './run-episode.ts';
export { runEpisodes, runGroups, type GroupsResult, type RolloutOptions, type RolloutResult } from './run-episodes.ts';
export { sampleSeed, type SampleSeedParts } from './sample-seed.ts';
