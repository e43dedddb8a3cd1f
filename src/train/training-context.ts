// What every loop gets beside its own options: where it belongs in a run, where it writes, whom it tells, and when
// it has to stop. No behaviour.

import type { ProgressListener } from '../core/index.ts';
import type { RunFolder } from '../store/index.ts';

export type TrainingContext = {
  /** Every draw of the loop derives from it. */
  readonly runSeed: number;
  /** Names the loop in seeds, metrics, files and progress; letters, digits, - and _. */
  readonly stage: string;
  /** One line for people. Default: the stage. */
  readonly title?: string;
  /** Where episodes, metrics and checkpoints go, and where a resumed loop finds them. Default: nowhere. */
  readonly run?: RunFolder;
  readonly listener?: ProgressListener;
  readonly signal: AbortSignal;
  /** Milliseconds; any origin. Default `performance.now`. */
  readonly now?: () => number;
  /** Milliseconds that one call to the trainer may take. Default 1,800,000. */
  readonly trainerCallMs?: number;
};
