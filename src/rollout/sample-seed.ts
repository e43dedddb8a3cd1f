// The seed of each draw. It names what is drawn, not who draws it or when, so that a result does not depend on
// which page was free first, and an episode that is run again after a failure is the same episode.

import { createRng } from '../util/index.ts';

export type SampleSeedParts = {
  readonly runSeed: number;
  readonly stage: string;
  /** Training step; 0 where there is none. */
  readonly step: number;
  readonly taskId: string;
  readonly member: number;
  /** 0-based. */
  readonly turn: number;
};

/** A seed in [0, 2^31). */
export function sampleSeed({ runSeed, stage, step, taskId, member, turn }: SampleSeedParts): number {
  return createRng('sample', runSeed, stage, step, taskId, member, turn).integer(0, 2 ** 31);
}
