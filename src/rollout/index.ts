// Runs episodes and groups of them against an environment and whoever acts in it, both by interface.

export { demonstratingActor, type DemonstratingActorOptions } from './demonstrating-actor.ts';
export { DEFAULT_DEADLINES, type Deadlines, type OperationKind } from './operations.ts';
export type { EpisodeRequest, Screenshots } from './run-episode.ts';
export {
  runActorEpisodes,
  runEpisodes,
  runGroups,
  type ActorRolloutOptions,
  type GroupsResult,
  type RolloutOptions,
  type RolloutResult,
} from './run-episodes.ts';
export { sampleSeed, type SampleSeedParts } from './sample-seed.ts';
export { tokenActor, type TokenActorOptions } from './token-actor.ts';
