// Whether a process id still belongs to a running process. It says nothing of what that process is.

import { readFileSync } from 'node:fs';

/** False for a zombie: it is dead, but where nothing reaps orphans (some containers) its id stays taken. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // another user's process is alive too
  }
}
