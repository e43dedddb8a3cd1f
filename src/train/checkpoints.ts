// Checkpoints of a training loop in its run folder: saved whole, recorded after that, the oldest removed last. The
// record is the marker: what was written after the last one is cut off on resume.

import { rm } from 'node:fs/promises';
import type { Trainer } from '../core/index.ts';
import type { CheckpointRecord, RunFolder } from '../store/index.ts';

export type SaveCheckpointOptions = {
  readonly run: RunFolder;
  readonly trainer: Trainer;
  readonly stage: string;
  /** The next step to run. */
  readonly batch: number;
  /** Last one of its stage; it is kept. Default false. */
  readonly final?: boolean;
  /** Checkpoints of the stage that are kept beside the final one. Default 2: the last may be damaged. */
  readonly keep?: number;
  readonly signal: AbortSignal;
};

export async function saveCheckpoint(options: SaveCheckpointOptions): Promise<void> {
  const { run, trainer, stage, batch, final = false, keep = 2, signal } = options;
  const name = checkpointName(stage, batch);
  await trainer.saveState(run.checkpointPath(name), { signal });
  run.appendCheckpoint({ name, stage, batch, state_path: name, ...(final ? { final } : {}) });
  const outdated = checkpointName(stage, batch - keep);
  // A server's checkpoint is no folder here; there is nothing to remove then.
  if (batch - keep > 0) await rm(run.checkpointPath(outdated), { recursive: true, force: true });
}

/** The last checkpoint of the stage, or undefined when it has not got that far. */
export async function lastCheckpoint(run: RunFolder, stage: string): Promise<CheckpointRecord | undefined> {
  return (await run.readCheckpoints()).findLast((record) => record.stage === stage);
}

export async function loadCheckpoint(options: {
  readonly run: RunFolder;
  readonly trainer: Trainer;
  readonly record: CheckpointRecord;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { run, trainer, record, signal } = options;
  await trainer.loadState(run.checkpointPath(record.state_path ?? record.name), { signal });
}

function checkpointName(stage: string, batch: number): string {
  return `${stage}-${String(batch).padStart(6, '0')}`;
}
