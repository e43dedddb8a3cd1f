// A child process that is owned: it leads its own process group, the whole group is killed at once, and it does
// not outlive a normal exit, SIGINT, SIGTERM or SIGHUP of this process. (SIGKILL of this process cannot be
// answered here: give the child a pipe whose closing ends it.) No handler stays behind when the child is gone.

import { spawn, spawnSync, type ChildProcess, type StdioOptions } from 'node:child_process';
import { systemEnvironment } from './system-environment.ts';

export type OwnedProcessOptions = {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside `systemEnvironment()`, which is all that the child gets of this process's environment. Default none. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdio: StdioOptions;
  /** Runs once, synchronously, after the group is dead; also on the way out of this process. Must not throw. */
  readonly cleanup?: () => void;
};

export type ProcessEnd = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
};

export interface OwnedProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Resolves when the process is gone, or could not be started (`error`). Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** Kills the whole group; resolves when the process is gone. */
  kill(): Promise<void>;
}

const TERMINATION_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Our listeners carry this, to be told from an application's own. */
const OWNED = Symbol('tabwright.owned-process');
type SignalListener = ((signal: NodeJS.Signals) => void) & { [OWNED]?: true };

export function spawnOwned(options: OwnedProcessOptions): OwnedProcess {
  const child = spawn(options.command, options.args, {
    stdio: options.stdio,
    // POSIX: a new session and process group. On Windows `detached` would open a console; taskkill walks the tree there.
    detached: process.platform !== 'win32',
    windowsHide: true,
    env: { ...systemEnvironment(), ...options.env },
  });

  let released = false;
  const release = (): void => {
    if (released) return;
    released = true;
    process.off('exit', release);
    for (const signal of TERMINATION_SIGNALS) process.off(signal, onSignal);
    moveListenerLimit(-1);
    killGroup(child);
    options.cleanup?.();
  };
  const onSignal: SignalListener = (signal) => {
    // An application that handles the signal itself decides when to stop; `exit` still ends the child then.
    if (process.listeners(signal).some((listener) => (listener as SignalListener)[OWNED] !== true)) return;
    release();
    // The default action was displaced by our listener; the last of us restores it.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  onSignal[OWNED] = true;
  moveListenerLimit(1);
  process.on('exit', release);
  for (const signal of TERMINATION_SIGNALS) process.on(signal, onSignal);

  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (error) => {
      if (child.pid !== undefined) return; // a failed kill, not a failed start
      release();
      resolve({ code: null, signal: null, error });
    });
    child.once('exit', (code, signal) => {
      release();
      resolve({ code, signal });
    });
  });

  const kill = async (): Promise<void> => {
    killGroup(child);
    await ended;
  };
  return { child, ended, kill, [Symbol.asyncDispose]: kill };
}

/** Every child has listeners of its own, which is no leak: the number from which Node warns of one moves with them. */
function moveListenerLimit(by: 1 | -1): void {
  const limit = process.getMaxListeners();
  if (limit !== 0) process.setMaxListeners(limit + by); // 0: no limit
}

/** Ends the child and everything it started that stayed in its group. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') {
    if (child.exitCode === null) {
      const options = { stdio: 'ignore', env: systemEnvironment() } as const;
      spawnSync('taskkill', ['/pid', String(child.pid), '/T', '/F'], options);
    }
    return;
  }
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error; // the group is gone already (macOS says EPERM of a zombie's)
  }
}
