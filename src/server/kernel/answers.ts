// Pools and browsers as Kernel's API shows them.

import type { Browser } from './browsers.ts';
import type { NamedPool } from './kernel-service.ts';
import { DEFAULT_IDLE_SECONDS } from './schemas.ts';

export function poolAnswer({ id, createdAt, pool }: NamedPool): object {
  const { name } = pool.settings;
  return {
    id,
    ...(name === undefined ? {} : { name }),
    acquired_count: pool.acquired,
    available_count: pool.available,
    browser_pool_config: pool.settings,
    created_at: createdAt.toISOString(),
    extension_ids: [],
  };
}

export function browserAnswer({ id, name, createdAt, settings, tags, pool }: Browser): object {
  const { viewport, start_url } = settings;
  return {
    session_id: id,
    ...(name === undefined ? {} : { name }),
    created_at: createdAt.toISOString(),
    // There is no endpoint of the protocol's own: raw commands go through `cdp()` in a cell, and its policy.
    cdp_ws_url: '',
    webdriver_ws_url: '',
    headless: true,
    stealth: false,
    kiosk_mode: false,
    timeout_seconds: settings.timeout_seconds ?? DEFAULT_IDLE_SECONDS,
    ...(viewport === undefined ? {} : { viewport }),
    ...(start_url === undefined ? {} : { start_url }),
    ...(tags === undefined ? {} : { tags }),
    ...(pool === undefined ? {} : { pool }),
  };
}
