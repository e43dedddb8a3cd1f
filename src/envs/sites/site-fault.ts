// A site of ours that failed while it was used makes an episode invalid: that is no failure of who plays.

import { TabwrightError } from '../../core/index.ts';
import type { SiteInstance } from './host.ts';

/** Throws (boundary `env`) where the site's program did; `id` is the task's. */
export function refuseSiteFault(instance: Pick<SiteInstance, 'fault'>, id: string): void {
  const cause = instance.fault;
  if (cause === undefined) return;
  const reason = cause instanceof Error ? cause.message : 'it threw what is no error';
  throw new TabwrightError('env', `The site of ${id} failed while it was used: ${reason}`, {
    code: 'site-failed',
    details: { task: id },
    cause,
  });
}
