// What comes before tasks of a file, by flags: commands that bring the user's sites back, and signed-in states of them.

import { readFile } from 'node:fs/promises';
import { TabwrightError } from '../core/index.ts';
import {
  readStorageState,
  withoutDatabases,
  type LoadedTask,
  type StorageState,
  type TaskFileBeginOptions,
} from '../envs/index.ts';
import { runBefore } from './before-command.ts';
import { withoutEffect } from './opened-environment.ts';
import type { PreparationSettings } from './preparation-settings.ts';

const BEFORE_SECONDS = 600;

export function beforeSecondsOf({ before, beforeEach, beforeSeconds }: PreparationSettings): number {
  if ((before ?? beforeEach) === undefined && beforeSeconds !== undefined) {
    throw withoutEffect('beforeSeconds', 'for --before or --before-each');
  }
  return beforeSeconds ?? BEFORE_SECONDS;
}

/** Runs `--before`, reads the states; refuses states of sites that no task has. */
export async function prepareTasks(
  tasks: readonly LoadedTask[],
  settings: PreparationSettings & { readonly sessions?: number | undefined },
  signal: AbortSignal,
): Promise<TaskFileBeginOptions> {
  const { before, beforeEach, sessions = 1 } = settings;
  const seconds = beforeSecondsOf(settings);
  if (beforeEach !== undefined && sessions > 1) {
    throw new TabwrightError(
      'config',
      `--before-each with --sessions ${sessions}: a site that is brought back while another episode plays there breaks that one. Give --sessions 1.`,
      { code: 'reset-while-played', details: { sessions } },
    );
  }
  const states = await readStates(settings.storageState, tasks);
  if (before !== undefined) await runBefore({ command: before, seconds, env: {}, signal });
  return {
    tasks,
    states,
    ...(beforeEach === undefined
      ? {}
      : {
          reset: ({ id, sites, startUrls }: LoadedTask, call: { readonly signal: AbortSignal }) =>
            runBefore({
              command: beforeEach,
              seconds,
              env: { TABWRIGHT_TASK: id, TABWRIGHT_SITES: sites.join(','), TABWRIGHT_START_URL: startUrls[0] },
              signal: call.signal,
            }),
        }),
  };
}

async function readStates(
  given: string | undefined,
  tasks: readonly LoadedTask[],
): Promise<ReadonlyMap<string, StorageState>> {
  const known = new Set(tasks.flatMap(({ sites }) => sites.map((site) => site.toLowerCase())));
  const states = new Map<string, StorageState>();
  for (const part of (given ?? '').split(',').filter((one) => one.trim() !== '')) {
    const [, name = '*', file] = /^(?:([^=/\\]+)=)?(.+)$/u.exec(part.trim())!;
    const site = name.toLowerCase();
    if (site !== '*' && !known.has(site)) {
      throw new TabwrightError(
        'config',
        `--storage-state ${part}: no task is on "${name}"; their sites are ${[...known].sort().slice(0, 20).join(', ')}.`,
        { code: 'unknown-site', details: { site: name } },
      );
    }
    const state = readStorageState(await readText(file), file);
    const left = withoutDatabases(state);
    if (left.length > 0) {
      const where = `${left[0]}${left.length > 1 ? ` and ${left.length - 1} more` : ''}`;
      process.stderr.write(`warning: ${file}: the IndexedDB of ${where} is not put into browsers.\n`);
    }
    states.set(site, state);
  }
  return states;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new TabwrightError('config', `--storage-state: ${file} cannot be read: ${(cause as Error).message}`, {
      code: 'file-unreadable',
      details: { file },
      cause,
    });
  }
}
