// What a pool of sessions costs, without a jail and in one: acquiring a session that is warm, a first cell in it, booting
// one, making one as new for another episode, and the memory it takes. With --episodes, plays so many over --sessions
// sessions at a time and tells what they left. Not a test: nothing fails here when it is slow.
// Usage: npx tsx bench/pool.ts; node --expose-gc --import tsx bench/pool.ts --episodes 200 --sessions 8 [--reuse 20]

import { loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { createLocalProvider, type LocalProviderOptions, type PoolEvent } from '../src/repl/index.ts';
import { probeSandbox } from '../src/sandbox/index.ts';
import { sleep } from '../src/util/index.ts';
import { describeEpisodes, playEpisodes } from './episodes.ts';

/** Milliseconds. */
type Times = { readonly median: number; readonly worst: number; readonly samples: number };

export type PoolBench = {
  readonly place: 'plain' | 'jail';
  readonly acquire: Times;
  /** `await pageInfo()`, which attaches to the page. */
  readonly firstCell: Times;
  readonly boot: Times;
  readonly renew: Times;
  /** Of a session with an empty page, as jails count it. In the plain place that is the browser alone. */
  readonly memoryMiB: number;
  readonly loadAverage: number;
};

const { signal: NEVER } = new AbortController();

export async function benchPool({ samples = 12 } = {}): Promise<readonly PoolBench[]> {
  const probe = await probeSandbox();
  const rows = [await benchPlace('plain', 'unsafe-local', samples)];
  if (probe.available) rows.push(await benchPlace('jail', probe, samples));
  return rows;
}

/** The rows as a table for people. */
export function describePool(rows: readonly PoolBench[]): string {
  const line = (name: string, { median, worst, samples }: Times): string =>
    `  ${name.padEnd(26)} median ${median.toFixed(1).padStart(7)} ms   worst ${worst.toFixed(1).padStart(7)} ms   n ${samples}`;
  return rows
    .flatMap((row) => [
      `${row.place} (load average ${row.loadAverage.toFixed(2)})`,
      line('acquire, warm', row.acquire),
      line('first cell', row.firstCell),
      line('boot', row.boot),
      line('make as new', row.renew),
      `  ${'memory of a session'.padEnd(26)} ${row.memoryMiB.toFixed(0)} MiB`,
    ])
    .join('\n');
}

async function benchPlace(
  place: PoolBench['place'],
  jail: LocalProviderOptions['jail'],
  samples: number,
): Promise<PoolBench> {
  const loadAverage = loadavg()[0];
  const events: PoolEvent[] = [];
  const onEvent = (event: PoolEvent): number => events.push(event);
  const [acquire, firstCell]: number[][] = [[], []];
  let memory = 0;
  // Half of the renewals are boots.
  await using provider = createLocalProvider({ jail, sessions: 2, episodes: 2, onEvent });
  for (let i = 0; i < samples; i++) {
    while (provider.state.idle < 2) await sleep(20, NEVER);
    const start = performance.now();
    await using session = await provider.acquire({ signal: NEVER });
    const acquired = performance.now();
    await session.execute({ code: 'await pageInfo();' });
    acquire.push(acquired - start);
    firstCell.push(performance.now() - acquired);
    memory = session.memory() ?? NaN;
  }
  while (provider.state.idle < 2) await sleep(20, NEVER);
  const took = (kind: 'booted' | 'renewed'): number[] =>
    events.flatMap((event) => (event.kind === kind ? [event.ms] : []));
  return {
    place,
    acquire: times(acquire),
    firstCell: times(firstCell),
    boot: times(took('booted')),
    renew: times(took('renewed')),
    memoryMiB: memory / 2 ** 20,
    loadAverage,
  };
}

function times(values: readonly number[]): Times {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: sorted[sorted.length >> 1], worst: sorted.at(-1)!, samples: sorted.length };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: {
      episodes: { type: 'string' },
      sessions: { type: 'string', default: '8' },
      reuse: { type: 'string', default: '1' },
    },
  });
  if (values.episodes === undefined) console.log(describePool(await benchPool()));
  else {
    const probe = await probeSandbox();
    const jail = probe.available ? probe : 'unsafe-local';
    const sessions = Number(values.sessions);
    const report = await playEpisodes({
      open: (egress) => createLocalProvider({ jail, egress, sessions, episodes: Number(values.reuse) }),
      episodes: Number(values.episodes),
      concurrency: sessions,
    });
    console.log(`${probe.available ? 'jail' : 'plain'}: ${describeEpisodes(report)}`);
  }
}
