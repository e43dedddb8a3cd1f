// What a result was measured on: processor, memory, versions, the commit of the code, and how much memory this
// process and its children came to use.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Machine, PeakMemory } from '../experiments/index.ts';
import { systemEnvironment } from '../util/index.ts';

export function machineFacts(): Machine {
  return {
    platform: `${process.platform} ${process.arch}`,
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    loadAverage: Number(loadavg()[0].toFixed(2)),
  };
}

/** The commit that is checked out, with a + when files differ from it; null outside a checkout. */
export async function currentCommit(): Promise<string | null> {
  const git = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('git', args, {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      timeout: 5000,
      env: systemEnvironment(),
    });
    return stdout.trim();
  };
  try {
    return `${await git('rev-parse', '--short=12', 'HEAD')}${(await git('status', '--porcelain', '--untracked-files=no')) ? '+' : ''}`;
  } catch {
    // No git, or an installed package: there is no commit to name.
    return null;
  }
}

export interface MemoryMonitor extends Disposable {
  /** Largest seen. Resident memory of this process; proportional set sizes of it and its children, on Linux only. */
  peak(): PeakMemory;
}

/** Looks at once and then every half second, so a shorter peak may be missed. */
export function monitorMemory(): MemoryMonitor {
  let node = 0;
  let total: number | undefined;
  const look = (): void => {
    node = Math.max(node, process.memoryUsage.rss() / 2 ** 20);
    const tree = treeMemory();
    if (tree !== undefined) total = Math.max(total ?? 0, tree);
  };
  look();
  const timer = setInterval(look, 500);
  timer.unref();
  return {
    peak: () => ({
      peakNodeMB: Math.round(node),
      ...(total === undefined ? {} : { peakTotalMB: Math.round(total) }),
    }),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** MB of this process and its descendants; undefined where /proc does not exist. */
function treeMemory(): number | undefined {
  let entries: string[];
  try {
    entries = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return undefined;
  }
  const children = new Map<number, number[]>();
  for (const entry of entries) {
    const parent = readProc(entry, 'stat', /^\d+ \(.*\) \S (\d+)/s);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  let kilobytes = 0;
  const queue = [process.pid];
  for (let pid = queue.pop(); pid !== undefined; pid = queue.pop()) {
    kilobytes += readProc(String(pid), 'smaps_rollup', /^Pss:\s+(\d+)/m) ?? 0;
    queue.push(...(children.get(pid) ?? []));
  }
  return kilobytes / 1024;
}

/** One number from a file of /proc; undefined when the process has gone. */
function readProc(pid: string, file: string, pattern: RegExp): number | undefined {
  try {
    const found = pattern.exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined;
  }
}
