// Where sessions come from, as those see it who use them: whether the browser is on this machine, at Kernel, or
// anywhere with a debugging port, is a matter of configuration.

import type { SessionLease } from '../lease.ts';
import type { AcquireOptions } from '../pool.ts';

export interface SessionProvider extends AsyncDisposable {
  readonly kind: 'local' | 'kernel' | 'cdp';
  /** A session in which nothing of an earlier episode is left; dispose it to give it back. */
  acquire(options: AcquireOptions): Promise<SessionLease>;
}
