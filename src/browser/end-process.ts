// The end of a browser's process, waited for no longer than a killed process may take.

import { withDeadline, type OwnedProcess } from '../util/index.ts';
import { browserNotEnded } from './failures.ts';

/** Kills the process group and waits for its end. Throws `browser-not-ended` at the deadline, in milliseconds. */
export function endProcess(owned: OwnedProcess, deadlineMs = 10_000): Promise<void> {
  return withDeadline({ ms: deadlineMs, onExpiry: () => browserNotEnded(owned.child.pid, deadlineMs) }, () =>
    owned.kill(),
  );
}
