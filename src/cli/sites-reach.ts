// Whether browsers of a pool reach the sites that this program serves: only those of this machine can, and only at a port
// that they were told.

import { TabwrightError } from '../core/index.ts';
import { isLoopback } from '../tinker/index.ts';
import type { EnvironmentSettings } from './environment-settings.ts';

/** Why they do not; undefined where they do, as far as can be told from here. */
export function outOfReach({
  pool,
  env,
  sitesPort,
}: Pick<EnvironmentSettings, 'pool' | 'env' | 'sitesPort'>): string | undefined {
  if (pool === undefined) return undefined;
  const baseUrl = process.env['KERNEL_BASE_URL'] ?? '';
  if (baseUrl === '' || !isLoopback(baseUrl)) {
    return (
      `The sites of ${env} are served on this machine, where Kernel's browsers (--pool ${pool}) cannot reach them: leave ` +
      '--pool away, set KERNEL_BASE_URL to a `tabwright browsers serve` of this machine, or take tasks on public ' +
      'websites with --env tasks:<file>.'
    );
  }
  if (sitesPort === undefined) {
    return (
      `The sites of ${env} are served at whatever port is free, which browsers of another program cannot know: give ` +
      "--sites-port <n>, and start them with `tabwright browsers serve --allow '*.test=127.0.0.1:<n>'`."
    );
  }
  return undefined;
}

export function refuseOutOfReach(settings: Parameters<typeof outOfReach>[0]): void {
  const reason = outOfReach(settings);
  if (reason === undefined) return;
  throw new TabwrightError('config', reason, { code: 'sites-out-of-reach', details: { env: settings.env } });
}
