// Reads a run folder: finished, unfinished, crashed or still being written. It takes no lock and changes nothing.

import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TabwrightError, type AnyTrajectory, type JsonObject, type JsonValue, type Trajectory } from '../core/index.ts';
import { jsonObject, jsonValue } from './json-schema.ts';
import { parseLine, readIfPresent, readJsonLines } from './json-lines.ts';
import {
  checkpointRecordSchema,
  metricsRowSchema,
  runEventSchema,
  type CheckpointRecord,
  type MetricsRow,
  type RunEvent,
} from './records.ts';
import { readAnyRolloutsFile, readRolloutsFile } from './rollouts-file.ts';
import { systemCode, toStoreError, withStoreErrors } from './store-error.ts';
import { readVersioned, type VersionedFormat } from './versioned.ts';

/** Names inside a run folder. */
export const RUN_FILES = {
  config: 'config.json',
  metrics: 'metrics.jsonl',
  checkpoints: 'checkpoints.jsonl',
  events: 'events.jsonl',
  reportJson: 'report.json',
  reportHtml: 'report.html',
  evaluation: 'evaluation.json',
  rollouts: 'rollouts',
  screenshots: join('rollouts', 'screenshots'),
  state: 'state',
  checkpointFolders: 'checkpoints',
} as const;

/** `config.json`. Its version is that of the whole folder. */
export const configFormat: VersionedFormat<{ readonly config: JsonObject }> = {
  name: 'tabwright-run',
  upgraders: [],
  schema: z.strictObject({ config: jsonObject }),
};

export const stateFormat: VersionedFormat<{ readonly value: JsonValue }> = {
  name: 'tabwright-state',
  upgraders: [],
  schema: z.strictObject({ value: jsonValue }),
};

export interface ReadonlyRunFolder {
  readonly dir: string;
  readonly config: JsonObject;
  readMetrics(): Promise<MetricsRow[]>;
  readEvents(): Promise<(RunEvent & { readonly time: string })[]>;
  readCheckpoints(): Promise<CheckpointRecord[]>;
  /** Episodes of `rollouts/<name>.jsonl`, with their tokens; refuses those of a policy that gives none. */
  readRollouts(name: string): Promise<Trajectory[]>;
  /** The same of any policy, to look at. */
  readAnyRollouts(name: string): Promise<AnyTrajectory[]>;
  hasRollouts(name: string): Promise<boolean>;
  /** Names that `readRollouts` takes, sorted. */
  listRollouts(): Promise<string[]>;
  /** PNG written under a trajectory's `Turn.screenshot`. */
  readScreenshot(fileName: string): Promise<Uint8Array>;
  /** Undefined when nothing was written under this name. */
  readState(name: string): Promise<JsonValue | undefined>;
  /** Folder of the embedded backend's checkpoint of that name; it may not exist yet. */
  checkpointPath(name: string): string;
}

/** Opens a run folder for reading. Refuses a folder that is none, or is of a newer version. */
export async function readRun(dir: string): Promise<ReadonlyRunFolder> {
  const config = await readConfig(dir);
  if (config === undefined) {
    throw new TabwrightError('store', `${dir} is not a run folder: it has no ${RUN_FILES.config}. Check the path.`, {
      code: 'not-a-run-folder',
      details: { dir },
    });
  }
  const rolloutsPath = (name: string): string => join(dir, RUN_FILES.rollouts, `${checkName(name)}.jsonl`);
  return {
    dir,
    config,
    readMetrics: () => readJsonLines(join(dir, RUN_FILES.metrics), metricsRowSchema),
    readEvents: () => readJsonLines(join(dir, RUN_FILES.events), runEventSchema),
    readCheckpoints: () => readJsonLines(join(dir, RUN_FILES.checkpoints), checkpointRecordSchema),
    readRollouts: (name) => readRolloutsFile(rolloutsPath(name)),
    readAnyRollouts: (name) => readAnyRolloutsFile(rolloutsPath(name)),
    hasRollouts: (name) => exists(rolloutsPath(name)),
    listRollouts: () => listNames(join(dir, RUN_FILES.rollouts), '.jsonl'),
    async readScreenshot(fileName) {
      const path = screenshotPath(dir, fileName);
      return withStoreErrors({ doing: 'read', path }, () => readFile(path));
    },
    async readState(name) {
      const path = statePath(dir, name);
      const text = await readIfPresent(path);
      return text === undefined ? undefined : readVersioned(stateFormat, parseLine(text.toString(), path), path).value;
    },
    checkpointPath: (name) => join(dir, RUN_FILES.checkpointFolders, checkName(name)),
  };
}

/** The config of the run in `dir`, or undefined when there is no run. */
export async function readConfig(dir: string): Promise<JsonObject | undefined> {
  const path = join(dir, RUN_FILES.config);
  const text = await readIfPresent(path);
  return text === undefined ? undefined : readVersioned(configFormat, parseLine(text.toString(), path), path).config;
}

export function screenshotPath(dir: string, fileName: string): string {
  if (!fileName.endsWith('.png')) throw badName(fileName, 'the file name of a picture ends in .png');
  checkName(fileName.slice(0, -'.png'.length));
  return join(dir, RUN_FILES.screenshots, fileName);
}

export function statePath(dir: string, name: string): string {
  return join(dir, RUN_FILES.state, `${checkName(name)}.json`);
}

/** Names become file names: letters, digits, `-` and `_`, so that no name leaves its folder on any system. */
export function checkName(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,119}$/.test(name)) {
    throw badName(name, 'use at most 120 letters, digits, - and _, and start with a letter or digit');
  }
  return name;
}

function badName(name: string, rule: string): TabwrightError {
  return new TabwrightError('store', `${JSON.stringify(name)} cannot be a name in a run folder: ${rule}.`, {
    code: 'bad-name',
    details: { name },
  });
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw toStoreError({ doing: 'read', path }, error);
  }
}

async function listNames(folder: string, extension: string): Promise<string[]> {
  try {
    const entries = await readdir(folder);
    return entries
      .filter((entry) => entry.endsWith(extension) && !entry.startsWith('.'))
      .map((entry) => entry.slice(0, -extension.length))
      .sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw toStoreError({ doing: 'read', path: folder }, error);
  }
}
