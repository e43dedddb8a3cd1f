// Many short episodes of the Browser REPL over one provider, and what they leave: memory, processes and descriptors of this
// process before, during and after. For the bench and for the test that nothing leaks.

import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionProvider } from '../src/repl/index.ts';
import { processTree, type EgressRule } from '../src/sandbox/index.ts';

/** Of this process; processes are itself and its descendants. */
export type Usage = { readonly rssMiB: number; readonly processes: number; readonly descriptors: number };

export type EpisodesReport = {
  readonly episodes: number;
  readonly failed: number;
  readonly seconds: number;
  /** After the provider's first sessions were booted and ended once, so that what is made once is made. */
  readonly before: Usage;
  /** When the provider is gone. */
  readonly after: Usage;
  /** Growth of this process's memory over the second half, least squares. */
  readonly rssMiBPerHundred: number;
};

export type PlayOptions = {
  readonly open: (egress: readonly EgressRule[]) => SessionProvider;
  readonly episodes: number;
  /** At one time. */
  readonly concurrency: number;
};

export function usage(): Usage {
  (globalThis as { gc?: () => void }).gc?.();
  return {
    rssMiB: process.memoryUsage().rss / 2 ** 20,
    processes: processTree(process.pid).length,
    descriptors: readdirSync('/proc/self/fd').length,
  };
}

export async function playEpisodes({ open, episodes, concurrency }: PlayOptions): Promise<EpisodesReport> {
  await using site = await serve();
  {
    await using provider = open(site.egress);
    await playOne(provider, site.url);
  }
  const before = await settledUsage();
  const start = performance.now();
  const rss: number[] = [];
  let failed = 0;
  {
    await using provider = open(site.egress);
    let next = 0;
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (next++ < episodes) {
          if (!(await playOne(provider, site.url))) failed++;
          rss.push(usage().rssMiB);
        }
      }),
    );
  }
  const seconds = (performance.now() - start) / 1000;
  const slope = slopeOf(rss.slice(rss.length >> 1)) * 100;
  return { episodes, failed, seconds, before, after: await settledUsage(), rssMiBPerHundred: slope };
}

/**
 * Usage once it stands still: libuv closes the sockets of an ended child some turns after its exit, later on a busy
 * machine. What is still there after half a quiet second stays.
 */
async function settledUsage(deadlineMs = 10_000): Promise<Usage> {
  const end = performance.now() + deadlineMs;
  let last = usage();
  for (let quiet = 0; quiet < 10 && performance.now() < end;) {
    await sleep(50);
    const now = usage();
    quiet = now.descriptors === last.descriptors && now.processes === last.processes ? quiet + 1 : 0;
    last = now;
  }
  return last;
}

export function describeEpisodes({
  episodes,
  failed,
  seconds,
  before,
  after,
  rssMiBPerHundred,
}: EpisodesReport): string {
  const line = (name: string, value: (usage: Usage) => number): string =>
    `  ${name.padEnd(26)} ${value(before).toFixed(0)} before, ${value(after).toFixed(0)} after`;
  return [
    `${episodes} episodes in ${seconds.toFixed(0)} s, ${failed} failed`,
    line('memory, MiB', ({ rssMiB }) => rssMiB),
    `  ${'memory growth'.padEnd(26)} ${rssMiBPerHundred.toFixed(2)} MiB per hundred episodes, over the second half`,
    line('processes', ({ processes }) => processes),
    line('descriptors', ({ descriptors }) => descriptors),
  ].join('\n');
}

const { signal: NEVER } = new AbortController();

/** True when the episode did what it was to do. */
async function playOne(provider: SessionProvider, url: string): Promise<boolean> {
  await using session = await provider.acquire({ signal: NEVER, deadlineMs: 300_000 });
  const cells = [
    `await gotoUrl(${JSON.stringify(url)}); await waitForLoad();`,
    `await fillInput('input', 'text'); await click('button');`,
    `repl.write(await js('document.title'));`,
  ];
  let said = '';
  for (const code of cells) {
    const { content = [] } = await session.execute({ code });
    said = content.map((item) => (item.type === 'text' ? item.text : '')).join('');
  }
  return said === 'text';
}

async function serve() {
  const page = `<title>Page</title><input><button onclick="document.title = document.querySelector('input').value">Go</button>`;
  const server = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(page));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    egress: [{ host: '127.0.0.1', port }],
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const [covariance, variance] = values.reduce(
    ([c, v], value, i) => [c + (i - middle) * (value - mean), v + (i - middle) ** 2],
    [0, 0],
  );
  return covariance / variance;
}
