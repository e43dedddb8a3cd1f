// One contestant of the comparison on MiniWoB++ as this process sees it: a child that answers one JSON line to each that it is
// given, the time that takes, and the processor time of its whole tree meanwhile.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { processTree } from '../../src/sandbox/index.ts';
import { spawnOwned, withDeadline } from '../../src/util/index.ts';

export type Level = 'text' | 'full';

export type Asked = {
  readonly operation: 'episodes' | 'resets' | 'seeds';
  readonly task: string;
  readonly seeds: readonly number[];
  /** What is looked at in every step. The peers have one level each, and ignore this. */
  readonly level: Level;
};

export type PlayedEpisode = {
  readonly resetMs: number;
  readonly stepMs: readonly number[];
  readonly success: boolean;
  readonly goal: string;
};

export type ContestantOptions = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
};

export interface Contestant extends AsyncDisposable {
  readonly name: string;
  seeds(of: readonly number[]): Promise<readonly number[]>;
  /** `cpuMs`: user and system, the contestant and all its descendants. */
  play(asked: Asked): Promise<{ readonly episodes: readonly PlayedEpisode[]; readonly cpuMs: number }>;
}

const ANSWER_MS = 900_000;

export async function startContestant({ name, command, args, env }: ContestantOptions): Promise<Contestant> {
  const owned = spawnOwned({ command, args, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout, pid } = owned.child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error(`${name}: ${command} did not start`);
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Record<string, unknown>> => {
    const onExpiry = (): Error => new Error(`${name} did not answer within ${ANSWER_MS / 1000} s`);
    const { signal } = new AbortController();
    const line = await withDeadline({ ms: ANSWER_MS, signal, onExpiry }, () => lines.next());
    if (line.done === true) throw new Error(`${name} ended without an answer`);
    const answer = JSON.parse(line.value) as Record<string, unknown>;
    if (typeof answer.error === 'string') throw new Error(answer.error);
    return answer;
  };
  // A peer's browser leads a process group of its own and would go on, at the cost of whoever is next.
  const end = async (): Promise<void> => {
    const tree = processTree(pid);
    await owned[Symbol.asyncDispose]();
    for (const one of tree) kill(one);
  };
  const ask = async (asked: Asked): Promise<Record<string, unknown>> => {
    stdin.write(`${JSON.stringify(asked)}\n`);
    return next();
  };
  try {
    await next();
  } catch (error) {
    await end();
    throw error;
  }
  return {
    name,
    async seeds(of) {
      const asked: Asked = { operation: 'seeds', task: '', seeds: of, level: 'text' };
      return (await ask(asked)).seeds as readonly number[];
    },
    async play(asked) {
      const before = cpuMs(pid);
      const { episodes } = (await ask(asked)) as { episodes: readonly PlayedEpisode[] };
      return { episodes, cpuMs: cpuMs(pid) - before };
    },
    [Symbol.asyncDispose]: end,
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has ended with its parent
  }
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** Ended descendants are in the figures of those who waited for them. */
function cpuMs(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + ticksOf(pid) * TICK_MS, 0);
}

function ticksOf(pid: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0; // it has just ended
    throw error;
  }
  // Fields 14 to 17: utime, stime, cutime, cstime; the second may hold blanks and ends with the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
}
