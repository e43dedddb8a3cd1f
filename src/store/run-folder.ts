// Creates and resumes run folders, and writes into them: growing files by whole lines, everything else whole or not
// at all. What is written is decided by the caller; in particular the config comes through the caller's schema,
// which has no place for secrets.

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TabwrightError, type AnyTrajectory, type JsonObject, type JsonValue } from '../core/index.ts';
import { makeFolder, writeFileAtomic } from '../util/index.ts';
import { configDifferences, describeDifferences } from './config-difference.ts';
import { appendEpisode, readEpisodeLog, removeEpisodeLog } from './episode-log.ts';
import { appendJsonLine, repairTail } from './json-lines.ts';
import {
  checkpointRecordSchema,
  metricsRowSchema,
  type CheckpointRecord,
  type MetricsRow,
  type RunEvent,
} from './records.ts';
import { writeRolloutsFile } from './rollouts-file.ts';
import { LOCK_FILE, lockRun } from './run-lock.ts';
import {
  checkName,
  configFormat,
  readConfig,
  readRun,
  RUN_FILES,
  screenshotPath,
  stateFormat,
  statePath,
  type ReadonlyRunFolder,
} from './run-reader.ts';
import { withStoreErrors } from './store-error.ts';
import { parseWith, stamp } from './versioned.ts';

/** A run folder held for writing by this process. Disposing it gives the lock back. */
export interface RunFolder extends ReadonlyRunFolder, AsyncDisposable {
  appendMetrics(row: MetricsRow): void;
  /** Rewrites `metrics.jsonl` with the rows that `keep` accepts: on resume, those before the checkpoint. */
  truncateMetrics(keep: (row: MetricsRow) => boolean): Promise<void>;
  appendEvent(event: RunEvent): void;
  appendCheckpoint(record: CheckpointRecord): void;
  /** Takes the place of the log of that name. */
  writeRollouts(name: string, trajectories: readonly AnyTrajectory[]): Promise<void>;
  /** Adds to the log of a stage that is being played. */
  appendEpisode(name: string, trajectory: AnyTrajectory): void;
  /** What the log of that name holds: episodes of a sitting that was cut short. */
  readEpisodeLog(name: string): Promise<AnyTrajectory[]>;
  /** Writes `rollouts/screenshots/<fileName>`; `fileName` ends in .png and goes into `Turn.screenshot`. */
  writeScreenshot(fileName: string, png: Uint8Array): Promise<void>;
  /** Writes `state/<name>.json`. */
  writeState(name: string, value: JsonValue): Promise<void>;
  /** Writes `evaluation.json`. */
  writeEvaluation(evaluation: JsonObject): Promise<void>;
  writeReport(report: { readonly json: JsonValue; readonly html: string }): Promise<void>;
}

export type CreateRunOptions = {
  readonly config: JsonObject;
  /** Delete the run that is in the folder. Files that belong to no run are never touched. Default false. */
  readonly overwrite?: boolean;
  /** Milliseconds since 1970, for the time of events. Default `Date.now`. */
  readonly now?: () => number;
};

export type ResumeRunOptions = {
  readonly config: JsonObject;
  /** Settings that may be other than at first, by top-level or dotted name, e.g. `commit`. Default none. */
  readonly mayDiffer?: readonly string[];
  /** Of these, top-level ones whose new value is noted for whoever opens the run later. Default none. */
  readonly renewed?: readonly string[];
  /** Milliseconds since 1970, for the time of events. Default `Date.now`. */
  readonly now?: () => number;
};

/** Makes a run folder at `dir`, which must be new or empty unless `overwrite` is set and it holds a run. */
export async function createRun(
  dir: string,
  { config, overwrite = false, now = Date.now }: CreateRunOptions,
): Promise<RunFolder> {
  await withStoreErrors({ doing: 'write', path: dir }, () => makeFolder(dir));
  await refuseForeign(dir, overwrite);
  const lock = await lockRun(dir);
  try {
    await removeRun(dir);
    await writeJson(join(dir, RUN_FILES.config), stamp(configFormat, { config }));
    await makeFolders(dir);
    return writable({ reader: await readRun(dir), lock, now });
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Opens an existing run to go on with it. Its config must be the same, save for the keys in `mayDiffer`. What it gives has
 * the config that the run was begun with.
 */
export async function resumeRun(
  dir: string,
  { config, mayDiffer = [], renewed = [], now = Date.now }: ResumeRunOptions,
): Promise<RunFolder> {
  const reader = await readRun(dir);
  const differences = configDifferences(reader.config, config).filter(
    ({ key }) => !mayDiffer.some((name) => key === name || key.startsWith(`${name}.`)),
  );
  if (differences.length > 0) {
    throw new TabwrightError(
      'store',
      `Cannot resume ${dir}: ${describeDifferences(differences)}. Give the first run's settings, or start a new run with another --out.`,
      {
        code: 'config-differs',
        details: { dir, keys: differences.map(({ key }) => key) },
      },
    );
  }
  const lock = await lockRun(dir);
  try {
    await makeFolders(dir);
    for (const file of [RUN_FILES.metrics, RUN_FILES.checkpoints, RUN_FILES.events]) await repairTail(join(dir, file));
    const changed = Object.entries(config).filter(
      ([key, value]) => renewed.includes(key) && reader.config[key] !== value,
    );
    if (changed.length > 0) {
      const noted = { ...reader.config, ...Object.fromEntries(changed) };
      await writeJson(join(dir, RUN_FILES.config), stamp(configFormat, { config: noted }));
    }
    return writable({ reader, lock, now });
  } catch (error) {
    await lock[Symbol.asyncDispose]();
    throw error;
  }
}

type WritableParts = { readonly reader: ReadonlyRunFolder; readonly lock: AsyncDisposable; readonly now: () => number };

function writable({ reader, lock, now }: WritableParts): RunFolder {
  const { dir } = reader;
  const metrics = join(dir, RUN_FILES.metrics);
  const log = (name: string): string => join(dir, RUN_FILES.rollouts, `${checkName(name)}.jsonl.part`);
  return {
    ...reader,
    appendMetrics: (row) => appendJsonLine(metrics, parseWith(metricsRowSchema, row, `a row for ${metrics}`)),
    async truncateMetrics(keep) {
      const kept = (await reader.readMetrics()).filter(keep);
      await writeWhole(metrics, kept.map((row) => `${JSON.stringify(row)}\n`).join(''));
    },
    appendEvent: (event) =>
      appendJsonLine(join(dir, RUN_FILES.events), { ...event, time: new Date(now()).toISOString() }),
    appendCheckpoint(record) {
      const path = join(dir, RUN_FILES.checkpoints);
      appendJsonLine(path, parseWith(checkpointRecordSchema, record, `a row for ${path}`));
    },
    async writeRollouts(name, trajectories) {
      await writeRolloutsFile(join(dir, RUN_FILES.rollouts, `${checkName(name)}.jsonl`), trajectories);
      await removeEpisodeLog(log(name));
    },
    appendEpisode: (name, trajectory) => appendEpisode(log(name), trajectory),
    readEpisodeLog: (name) => readEpisodeLog(log(name)),
    writeEvaluation: (evaluation) => writeJson(join(dir, RUN_FILES.evaluation), evaluation),
    writeScreenshot: (fileName, png) => writeWhole(screenshotPath(dir, fileName), png),
    writeState: (name, value) => writeJson(statePath(dir, name), stamp(stateFormat, { value })),
    async writeReport({ json, html }) {
      await writeJson(join(dir, RUN_FILES.reportJson), json);
      await writeWhole(join(dir, RUN_FILES.reportHtml), html);
    },
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}

async function refuseForeign(dir: string, overwrite: boolean): Promise<void> {
  const entries = await withStoreErrors({ doing: 'read', path: dir }, () => readdir(dir));
  const others = entries.filter((entry) => !entry.startsWith(LOCK_FILE));
  if (others.length === 0) return;
  const isRun = await holdsRun(dir);
  if (isRun && overwrite) return;
  const [what, advice] = isRun
    ? [
        'already holds a run',
        'Go on with it (--resume, where the command has that), replace it (--overwrite), or choose another folder with --out.',
      ]
    : ['is not empty and holds no run', 'Choose another folder with --out.'];
  throw new TabwrightError('store', `${dir} ${what}. ${advice}`, {
    code: isRun ? 'run-exists' : 'folder-not-empty',
    details: { dir },
  });
}

/** True for a run of any version: a newer one is still a run, and may be overwritten when asked. */
async function holdsRun(dir: string): Promise<boolean> {
  try {
    return (await readConfig(dir)) !== undefined;
  } catch (error) {
    if (error instanceof TabwrightError && error.code === 'newer-version') return true;
    if (error instanceof TabwrightError && (error.code === 'wrong-format' || error.code === 'corrupted-file'))
      return false;
    throw error;
  }
}

async function removeRun(dir: string): Promise<void> {
  // The config goes last: until then a removal that was cut short can be asked for again.
  for (const name of Object.values(RUN_FILES).reverse()) {
    const path = join(dir, name);
    await withStoreErrors({ doing: 'remove', path }, () => rm(path, { recursive: true, force: true }));
  }
}

async function makeFolders(dir: string): Promise<void> {
  for (const name of [RUN_FILES.screenshots, RUN_FILES.state, RUN_FILES.checkpointFolders]) {
    const path = join(dir, name);
    await withStoreErrors({ doing: 'write', path }, () => makeFolder(path));
  }
}

function writeJson(path: string, value: JsonValue): Promise<void> {
  return writeWhole(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

async function writeWhole(path: string, data: string | Uint8Array): Promise<void> {
  await withStoreErrors({ doing: 'write', path }, () => writeFileAtomic(path, data));
}
