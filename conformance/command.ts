// Foreign programs of the conformance run (pip, Python drivers, the peers' servers): each in its own process group,
// under a deadline, its output in a log file, its last lines in the error.

import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { spawnOwned } from '../src/util/index.ts';

export type CommandOptions = {
  /** What runs, for messages: `pip install of sdk-0.38.0`. */
  readonly what: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: this process's. */
  readonly cwd?: string;
  /** Milliseconds until the group is killed. */
  readonly deadlineMs: number;
  /** Both streams are appended here. */
  readonly log: string;
  /** Every line of stdout, as it comes. */
  readonly onLine?: (line: string) => void;
};

export type CommandEnd = {
  readonly code: number | null;
  readonly timedOut: boolean;
  /** The last lines of both streams. */
  readonly tail: string;
  readonly seconds: number;
};

const TAIL_LINES = 25;

/** Resolves when the program has ended, however it ended; throws only if it could not be started. */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const started = performance.now();
  const { command, args } = inFolder(options);
  await using owned = spawnOwned({ command, args, env: options.env, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(options.log, { flags: 'a' });
  const tail: string[] = [];
  const readers = [owned.child.stdout, owned.child.stderr].map((stream, index) => {
    if (stream === null) throw new Error(`${options.what}: no pipe to ${command}`);
    const lines = createInterface({ input: stream });
    lines.on('line', (line) => {
      log.write(`${line}\n`);
      tail.push(line);
      if (tail.length > TAIL_LINES) tail.shift();
      if (index === 0) options.onLine?.(line);
    });
    return new Promise<void>((resolve) => lines.once('close', resolve));
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    void owned.kill();
  }, options.deadlineMs);
  const end = await owned.ended;
  clearTimeout(timer);
  if (end.error) throw new Error(`${options.what}: could not start ${command}`, { cause: end.error });
  await Promise.all(readers);
  await new Promise<void>((resolve) => log.end(resolve));
  return { code: end.code, timedOut, tail: tail.join('\n'), seconds: (performance.now() - started) / 1000 };
}

/** Like `runCommand`, but anything except exit code 0 is an error that carries the last lines. */
export async function mustRun(options: CommandOptions): Promise<CommandEnd> {
  const end = await runCommand(options);
  if (end.code === 0) return end;
  throw new Error(`${options.what} ${endWords(end, options)}; last lines:\n${end.tail}`);
}

export function endWords(end: CommandEnd, options: Pick<CommandOptions, 'deadlineMs' | 'log'>): string {
  const how = end.timedOut ? `did not end within ${options.deadlineMs / 1000} s` : `ended with code ${end.code}`;
  return `${how} (log: ${options.log})`;
}

function inFolder({ cwd, command, args }: CommandOptions): { command: string; args: readonly string[] } {
  return cwd === undefined ? { command, args } : startedIn(cwd, command, args);
}

/** `spawnOwned` has no working directory: a shell goes there and becomes the program. */
export function startedIn(
  folder: string,
  command: string,
  args: readonly string[],
): { command: string; args: readonly string[] } {
  return { command: 'sh', args: ['-c', 'cd "$0" && exec "$@"', folder, command, ...args] };
}
