// The failures of this folder, one function each, so that codes and wording are in one place.

import { TabwrightError } from '../core/index.ts';
import type { LimitBreach } from './limits.ts';

export function jailUnavailable(reason: string, remedy: string): TabwrightError {
  return new TabwrightError(
    'config',
    `model-written code is not run here, because the jail does not hold: ${reason}\n${remedy}\n` +
      'Or accept the risk with --unsafe-local: the code then runs with your files, your network and your rights.',
    { code: 'jail-unavailable', details: { reason, remedy } },
  );
}

export function jailLimitExceeded(breach: LimitBreach): TabwrightError {
  const { limit, value, allowed } = breach;
  return new TabwrightError('env', `the jail was killed: ${limit} reached ${value}, allowed are ${allowed}`, {
    code: 'jail-limit-exceeded',
    details: { limit, value, allowed },
  });
}

export function jailNotEnded(pid: number, ms: number): TabwrightError {
  return new TabwrightError(
    'env',
    `the jail (process ${pid}) was killed and has not ended within ${ms} ms; end it by hand`,
    {
      code: 'jail-not-ended',
      details: { pid, ms },
    },
  );
}

export function scratchNotRemoved(folder: string, reason: string): TabwrightError {
  return new TabwrightError('env', `the scratch folder ${folder} cannot be removed: ${reason}; remove it by hand`, {
    code: 'scratch-not-removed',
    details: { folder, reason },
  });
}
