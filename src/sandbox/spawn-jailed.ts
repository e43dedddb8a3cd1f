// Starts a program in a jail: namespaces by bubblewrap (no network, no host files, no host processes), no rights,
// few system calls, limits. It knows nothing of what runs inside, and it does not judge whether the jail holds on this
// machine: that is probe.ts. The jail ends with this process, however that ends.

import type { Readable, Writable } from 'node:stream';
import { TabwrightError } from '../core/index.ts';
import { isProcessAlive, onAbort, sleep, spawnOwned, type OwnedProcess, type ProcessEnd } from '../util/index.ts';
import { findBubblewrap } from './find-bubblewrap.ts';
import type { EgressProxy } from './egress-proxy.ts';
import { jailLimitExceeded, jailNotEnded, jailUnavailable } from './failures.ts';
import { forwarded } from './forwarder.ts';
import { jailCommand, type Bind } from './jail-command.ts';
import { createJailUser } from './jail-user.ts';
import { DEFAULT_LIMITS, type JailLimits, type LimitBreach } from './limits.ts';
import { installRemedy } from './remedy.ts';
import type { ScratchFolder } from './scratch.ts';
import { seccompProgram } from './seccomp.ts';
import { watchLimits } from './watch-limits.ts';

export type JailOptions = {
  /** The program, as it is found inside. `bind` it where it does not lie under /usr. */
  readonly command: string;
  readonly args: readonly string[];
  /** Beside HOME, PATH and LANG, which are the jail's own. Nothing comes from this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** One entry a descriptor, as for `child_process.spawn`; those after the third are inherited by the program. */
  readonly stdio: readonly ('ignore' | 'pipe' | 'inherit' | number)[];
  readonly readOnly?: readonly Bind[];
  readonly readWrite?: readonly Bind[];
  /** Seen inside at /tmp. Default: a memory file system of the jail's own. */
  readonly scratch?: ScratchFolder;
  /** The only way out, seen inside as a proxy at `JAIL_PROXY`. Default: no network at all. */
  readonly egress?: EgressProxy;
  /** Default `DEFAULT_LIMITS`, entry by entry. */
  readonly limits?: Partial<JailLimits>;
  /** The program has a sandbox of its own and needs namespaces to make it. Default false. */
  readonly nestedSandbox?: boolean;
  /** Kills the jail. */
  readonly signal?: AbortSignal;
};

export interface JailedProcess extends OwnedProcess {
  /** Resolves when every process of the jail is gone; `error` also says which limit it was killed for. */
  readonly ended: Promise<ProcessEnd>;
  /** The limit for which the jail was killed. */
  readonly breach: LimitBreach | undefined;
}

/** How long the processes of a killed jail may take to end, milliseconds. */
const KILL_DEADLINE_MS = 10_000;

export function spawnJailed(options: JailOptions): JailedProcess {
  options.signal?.throwIfAborted();
  const bubblewrap = findBubblewrap();
  if (bubblewrap === undefined) throw jailUnavailable('bubblewrap (bwrap) is not installed', installRemedy());
  const nestedSandbox = options.nestedSandbox ?? false;
  const filter = seccompProgram({ arch: process.arch, nestedSandbox });
  if (filter === undefined) throw jailUnavailable(`no system call filter for ${process.arch}`, installRemedy());

  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { scratch, egress, stdio } = options;
  const program =
    egress === undefined
      ? { command: options.command, args: options.args, readOnly: [] }
      : forwarded({ ...options, descriptors: stdio.length, socket: egress.socket });
  const command = jailCommand({
    command: program.command,
    args: program.args,
    env: options.env ?? {},
    readOnly: [...program.readOnly, ...(options.readOnly ?? [])],
    readWrite: [...(scratch === undefined ? [] : [{ from: scratch.folder, to: '/tmp' }]), ...(options.readWrite ?? [])],
    tmpIsBound: scratch !== undefined,
    limits,
    user: createJailUser(scratch?.gid),
    nestedSandbox,
  });
  const [argumentsAt, filterAt, infoAt] = [0, 1, 2].map((i) => stdio.length + i);
  const own = ['--args', argumentsAt, '--seccomp', filterAt, '--info-fd', infoAt].map(String);
  const owned = spawnOwned({
    // bubblewrap's first process stays in the jail and shows its environment there: it gets an empty one.
    command: '/usr/bin/env',
    args: ['-i', bubblewrap, ...own, '--', ...command.inner],
    stdio: [...stdio, 'pipe', 'pipe', 'pipe'],
  });
  const { child } = owned;
  give(child.stdio[argumentsAt] as Writable, Buffer.from(command.options.map((option) => `${option}\0`).join('')));
  give(child.stdio[filterAt] as Writable, filter);

  let firstPid: number | undefined;
  let breach: LimitBreach | undefined;
  readInfo(child.stdio[infoAt] as Readable, (pid) => (firstPid = pid));
  const stopWatching = watchLimits({
    pid: () => firstPid,
    limits,
    ...(scratch === undefined ? {} : { folder: scratch.folder }),
    onBreach: (found) => {
      breach = found;
      end();
    },
  });
  const unlink = options.signal === undefined ? undefined : onAbort(options.signal, () => end());

  const ended = owned.ended.then(async (end): Promise<ProcessEnd> => {
    stopWatching();
    unlink?.();
    if (firstPid !== undefined && !(await isGone(firstPid)))
      return { ...end, error: jailNotEnded(firstPid, KILL_DEADLINE_MS) };
    return breach === undefined ? end : { ...end, error: jailLimitExceeded(breach) };
  });
  const end = (): void => {
    // The first process would follow bubblewrap, which takes the kernel a turn more.
    const running = child.exitCode === null && child.signalCode === null;
    if (running && firstPid !== undefined) killIfThere(firstPid);
    void owned.kill();
  };
  const kill = async (): Promise<void> => {
    end();
    const { error } = await ended;
    if (error instanceof TabwrightError && error.code === 'jail-not-ended') throw error;
  };
  return {
    child,
    ended,
    kill,
    [Symbol.asyncDispose]: kill,
    get breach() {
      return breach;
    },
  };
}

/** bubblewrap may be gone before it has read; why, is told by its end. */
function give(stream: Writable, bytes: Buffer): void {
  stream.on('error', () => stream.destroy()).end(bytes);
}

/** The id of the jail's first process, whose end is the end of them all. */
function readInfo(stream: Readable, found: (pid: number) => void): void {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  stream.on('error', () => stream.destroy());
  stream.on('end', () => {
    const pid = /"child-pid": (\d+)/.exec(text)?.[1]; // absent where bubblewrap ended before there was a jail
    if (pid !== undefined) found(Number(pid));
  });
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** False when it is still there at the deadline. */
async function isGone(pid: number): Promise<boolean> {
  const giveUp = performance.now() + KILL_DEADLINE_MS;
  while (isProcessAlive(pid)) {
    if (performance.now() > giveUp) return false;
    await sleep(1, NEVER);
  }
  return true;
}

const { signal: NEVER } = new AbortController();
