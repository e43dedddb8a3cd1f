// Watches the limits that the kernel does not enforce for a group of processes, four times a second: memory of all
// together, contents of the scratch folder, wall time. What is faster than that is bounded by the rlimits, which hold
// for each process at once.

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JailLimits, LimitBreach } from './limits.ts';
import { deletedBytes, ownMemory, processTree, sizeOf } from './process-tree.ts';

export type WatchOptions = {
  /** The jail's first process; undefined until it is known. */
  readonly pid: () => number | undefined;
  readonly limits: JailLimits;
  /** The scratch folder on the host, if there is one. */
  readonly folder?: string;
  /** Called once. */
  readonly onBreach: (breach: LimitBreach) => void;
};

const INTERVAL_MS = 250;

/** Returns what ends the watch. */
export function watchLimits({ pid, limits, folder, onBreach }: WatchOptions): () => void {
  const start = performance.now();
  let ticks = 0;
  const timer = setInterval(() => {
    ticks++;
    const breach = find();
    if (breach === undefined) return;
    clearInterval(timer);
    onBreach(breach);
  }, INTERVAL_MS);

  const find = (): LimitBreach | undefined => {
    const wallMs = Math.round(performance.now() - start);
    if (limits.wallMs !== undefined && wallMs > limits.wallMs) return over('wallMs', wallMs);
    const first = pid();
    const memory = first === undefined ? 0 : ownMemory(processTree(first));
    if (memory > limits.memoryBytes) return over('memoryBytes', memory);
    if (folder === undefined) return undefined;
    const { bytes: named, entries } = contents(folder, limits.scratchEntries);
    const bytes = named + (first === undefined || ticks % 4 !== 0 ? 0 : deletedBytes(processTree(first)));
    if (bytes > limits.scratchBytes) return over('scratchBytes', bytes);
    if (entries > limits.scratchEntries) return over('scratchEntries', entries);
    return undefined;
  };
  const over = (limit: LimitBreach['limit'], value: number): LimitBreach => ({ limit, value, allowed: limits[limit]! });
  return () => clearInterval(timer);
}

/** Counts until there are more than `most` entries; links are counted and not followed. */
function contents(folder: string, most: number): { bytes: number; entries: number } {
  let [bytes, entries] = [0, 0];
  const folders = [folder];
  try {
    for (const path of folders) {
      for (const name of whileThere(() => readdirSync(path)) ?? []) {
        if (++entries > most) return { bytes, entries };
        const stat = whileThere(() => lstatSync(join(path, name)));
        bytes += stat === undefined ? 0 : sizeOf(stat);
        if (stat?.isDirectory()) folders.push(join(path, name));
      }
    }
  } catch {
    // Closed to the host, or deeper than a path can be: what cannot be counted is too much.
    return { bytes, entries: most + 1 };
  }
  return { bytes, entries };
}

/** The jail changes the folder meanwhile: undefined for what is gone. */
function whileThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}
