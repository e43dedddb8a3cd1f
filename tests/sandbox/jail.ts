// Programs in a jail for tests, and why there are none where the jail does not hold.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { jailNode, probeSandbox, spawnJailed, type JailOptions, type LimitBreach } from '../../src/sandbox/index.ts';
import type { ProcessEnd } from '../../src/util/index.ts';

export const probe = await probeSandbox();

/** Tests of the jail are skipped where it does not hold; their title then says why. */
export const noJail = !probe.available;
export const whyNot = probe.available ? '' : ` (skipped: ${probe.reason})`;

export type JailedRun = ProcessEnd & {
  readonly stdout: string;
  readonly stderr: string;
  readonly breach: LimitBreach | undefined;
};

/** Runs JavaScript in a jailed Node to its end. The last 64 kB of what it printed are kept. */
export async function runInJail(script: string, options: Partial<JailOptions> = {}): Promise<JailedRun> {
  const node = jailNode();
  return runProgramInJail({
    command: node.command,
    args: ['-e', script],
    ...options,
    readOnly: [...node.readOnly, ...(options.readOnly ?? [])],
  });
}

export async function runProgramInJail(
  options: Pick<JailOptions, 'command' | 'args'> & Partial<JailOptions>,
): Promise<JailedRun> {
  await using jailed = spawnJailed({ stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const texts = ['', ''];
  const streams = [jailed.child.stdout!, jailed.child.stderr!];
  streams.forEach((stream, i) =>
    stream.setEncoding('utf8').on('data', (chunk: string) => (texts[i] = (texts[i] + chunk).slice(-65_536))),
  );
  const [end] = await Promise.all([jailed.ended, ...streams.map((stream) => once(stream, 'close'))]);
  return { ...end, stdout: texts[0].trim(), stderr: texts[1].trim(), breach: jailed.breach };
}

export type RunningProcess = { readonly pid: number; readonly parent: number; readonly command: string };

/** What a process has started, seen from the host. */
export async function descendants(pid: number): Promise<readonly RunningProcess[]> {
  const { stdout } = await promisify(execFile)('ps', ['-e', '-ww', '-o', 'pid=,ppid=,args='], { maxBuffer: 1 << 24 });
  const all = stdout.split('\n').flatMap((line): RunningProcess[] => {
    const match = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line);
    return match === null ? [] : [{ pid: Number(match[1]), parent: Number(match[2]), command: match[3] }];
  });
  const found = all.filter(({ parent }) => parent === pid);
  for (const { pid: parent } of found) found.push(...all.filter((one) => one.parent === parent));
  return found;
}
