// Checkpoints of a training loop in its run folder: saved whole, recorded after that, the oldest removed last. The
// record is the marker: what was written after the last one is cut off on resume.

import { TabwrightError, type ProgressListener, type Trainer } from '../core/index.ts';
import type { CheckpointRecord, RunFolder } from '../store/index.ts';

/** Checkpoints of a stage that are kept: the last may turn out to be damaged, and the one before serves then. */
const KEPT = 2;

export type SaveCheckpointOptions = {
  readonly run: RunFolder;
  readonly trainer: Trainer;
  readonly stage: string;
  /** The next step to run. */
  readonly batch: number;
  /** Last one of its stage; it is kept. Default false. */
  readonly final?: boolean;
  /** How many of the stage are kept. Default 2. */
  readonly kept?: number;
  /** Steps between two checkpoints of the stage. Default 1. */
  readonly every?: number;
  readonly signal: AbortSignal;
};

export async function saveCheckpoint(options: SaveCheckpointOptions): Promise<void> {
  const { run, trainer, stage, batch, final = false, kept = KEPT, every = 1, signal } = options;
  const name = checkpointName(stage, batch);
  const folder = run.checkpointPath(name);
  const saved = await trainer.saveState(folder, { signal });
  // A folder moves with its run and is named relative to it; a server's checkpoint stays where it is. That of a server
  // is kept for training only, so the last one of a stage is saved for sampling too.
  const paths =
    saved === folder
      ? { state_path: name }
      : {
          state_path: saved,
          ...(final ? { sampler_path: await trainer.saveWeightsForSampler(folder, { signal }) } : {}),
        };
  run.appendCheckpoint({ name, stage, batch, ...paths, ...(final ? { final } : {}) });
  // The last of a stage may come out of turn; then the one that its predecessor made outdated is gone already.
  const outdated = batch - kept * every;
  const records = outdated > 0 ? await run.readCheckpoints() : [];
  const record = records.findLast((earlier) => earlier.name === checkpointName(stage, outdated));
  if (record !== undefined) await trainer.removeState(statePath(run, record), { signal });
}

/** Where the state of a record lies: a folder of the run, or a server's path. */
export function statePath(run: RunFolder, { name, state_path = name }: CheckpointRecord): string {
  return state_path === name ? run.checkpointPath(name) : state_path;
}

export type LoadCheckpointOptions = {
  readonly run: RunFolder;
  readonly trainer: Trainer;
  readonly stage: string;
  /** Told of each checkpoint that cannot be read. */
  readonly listener?: ProgressListener;
  readonly signal: AbortSignal;
};

/**
 * Loads the newest checkpoint of the stage that can be read, and gives its record; undefined when the stage has written
 * none. Steps are deterministic, so going on from an earlier one ends at the same place. Throws the failure of the
 * newest where none can be read.
 */
export async function loadLastCheckpoint(options: LoadCheckpointOptions): Promise<CheckpointRecord | undefined> {
  const { run, trainer, stage, listener, signal } = options;
  let failure: TabwrightError | undefined;
  for (const record of keptRecords(await run.readCheckpoints(), stage)) {
    try {
      await trainer.loadState(statePath(run, record), { signal });
    } catch (error) {
      if (!(error instanceof TabwrightError)) throw error;
      failure ??= error;
      continue;
    }
    if (failure !== undefined) {
      const message = `The last checkpoint of ${stage} cannot be read, going on from ${record.name}: ${failure.message}`;
      listener?.({ kind: 'note', level: 'warning', message });
    }
    return record;
  }
  if (failure !== undefined) throw failure;
  return undefined;
}

/** Newest first; a checkpoint that was written again counts once. */
function keptRecords(records: readonly CheckpointRecord[], stage: string): readonly CheckpointRecord[] {
  const byName = new Map(records.filter((record) => record.stage === stage).map((record) => [record.name, record]));
  return [...byName.values()].sort((a, b) => b.batch - a.batch).slice(0, KEPT);
}

function checkpointName(stage: string, batch: number): string {
  return `${stage}-${String(batch).padStart(6, '0')}`;
}
