// Browsers of this machine for the servers: the settings they share, the jail tried out once, Chromium found once.

import { z } from 'zod';
import { locateChromium } from '../browser/index.ts';
import { openLocalSession } from '../repl/index.ts';
import { probeSandbox, requireJail, type SandboxProbe } from '../sandbox/index.ts';
import type { OpenSession } from '../server/index.ts';
import { egressRules } from './egress-option.ts';

export const localBrowserSettings = {
  profile: z
    .enum(['kernel', 'train'])
    .default('kernel')
    .describe('what cells find: all of Node, or what models are given'),
  allow: z.string().default('*').describe('hosts that the browsers may reach, host or host:port, divided by commas'),
  unsafeLocal: z.boolean().default(false).describe('run without a jail, with all rights of this user'),
};

export type LocalBrowserSettings = z.infer<z.ZodObject<typeof localBrowserSettings>>;

/** Refuses where the jail does not hold; what is opened later needs no second look. */
export async function localBrowsers(settings: LocalBrowserSettings, signal: AbortSignal): Promise<OpenSession> {
  const { profile, allow, unsafeLocal } = settings;
  const egress = egressRules(allow);
  const jail = await jailFor(unsafeLocal, signal);
  const location = await locateChromium({ prefer: 'chrome', signal });
  return ({ viewport, signal: wait }) =>
    openLocalSession(
      { jail, egress, location, cell: { profile }, ...(viewport === undefined ? {} : { viewport }) },
      wait,
    );
}

/** The jail, tried out; or none, which is warned of once. */
export async function jailFor(unsafeLocal: boolean, signal: AbortSignal): Promise<SandboxProbe | 'unsafe-local'> {
  if (!unsafeLocal) {
    const probe = await probeSandbox({ signal });
    requireJail(probe);
    return probe;
  }
  process.stderr.write('warning: no jail: cells and pages have all files, keys and networks that you have.\n');
  return 'unsafe-local';
}
