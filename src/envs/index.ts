// Environments: tasks made out of pages.

export * from './click-checkboxes/index.ts';
export {
  attachPolicy,
  type AttachedPolicy,
  type EpisodePlayer,
  type EpisodePolicy,
  type Player,
} from './episode-policy.ts';
export * from './math/index.ts';
export * from './miniwob/index.ts';
export * from './sites/index.ts';
export * from './synthetic-pages/index.ts';
export * from './task-files/index.ts';
export * from './web-task/index.ts';
export type * from './suite-description.ts';
export type * from './web-suite.ts';
