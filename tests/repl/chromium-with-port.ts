// A Chromium that listens on a port of this machine, as one that runs elsewhere would.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateChromium } from '../../src/browser/index.ts';
import { spawnOwned } from '../../src/util/index.ts';

export interface ChromiumWithPort extends AsyncDisposable {
  /** `ws://` of the browser. */
  readonly webSocket: string;
  /** `http://` of its port. */
  readonly http: string;
  readonly pid: number;
}

export async function startChromiumWithPort(): Promise<ChromiumWithPort> {
  const location = await locateChromium();
  const profile = mkdtempSync(join(tmpdir(), 'tabwright-remote-'));
  const owned = spawnOwned({
    command: location.path,
    args: [
      ...['--headless', '--remote-debugging-port=0', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage'],
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ...[`--user-data-dir=${profile}`, 'about:blank'],
    ],
    env: location.env,
    stdio: ['ignore', 'ignore', 'pipe'],
    cleanup: () => rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }),
  });
  const stderr = owned.child.stderr!.setEncoding('utf8');
  let said = '';
  for (;;) {
    const [chunk] = (await once(stderr, 'data')) as [string];
    said += chunk;
    const webSocket = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
    if (webSocket === undefined) continue;
    stderr.resume();
    return {
      webSocket,
      http: `http://${new URL(webSocket).host}`,
      pid: owned.child.pid!,
      [Symbol.asyncDispose]: () => owned.kill(),
    };
  }
}
