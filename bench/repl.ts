// What a cell costs, in a plain process and in a jail: an empty one, one with a call to its host, the start of a
// runtime, the memory it takes, and how long after its deadline a spinning cell is gone. The host answers calls at once,
// so what a browser needs is not in these figures; it is in those of a cell with one CDP command, which a real Chromium
// in the same place answers. Not a test: nothing fails here when it is slow.
// Usage: npx tsx bench/repl.ts

import { loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import {
  createCellProcess,
  jailedCell,
  openLocalSession,
  type CellProcess,
  type HostCalls,
  type JailedCell,
  type LocalSessionOptions,
} from '../src/repl/index.ts';
import { probeSandbox } from '../src/sandbox/index.ts';

/** Milliseconds of wall-clock. */
export type Spread = { readonly median: number; readonly p90: number; readonly samples: number };

export type ReplBench = {
  readonly place: 'plain' | 'jail';
  readonly emptyCell: Spread;
  readonly cellWithCall: Spread;
  /** `Runtime.evaluate` of a number, carried out by Chromium on an empty page. */
  readonly cellWithCdp: Spread;
  /** From the deadline of a cell that spins until its process is gone. */
  readonly kill: Spread;
  /** From nothing to the first answer. */
  readonly start: Spread;
  /** Resident memory of one runtime after the cells above, MiB. Counts Node's own pages, which runtimes share. */
  readonly memoryMiB: number;
  readonly loadAverage: number;
};

export type BenchReplOptions = {
  /** Cells measured; default 300. */
  readonly cells?: number;
  /** Starts and kills measured; default 9. */
  readonly processes?: number;
};

const KILL_AFTER_MS = 100;
const METHODS = [{ name: 'click', namespace: 'browser' }] as const;

/** One row for a plain process, and one for a jail where this machine has it. */
export async function benchRepl({ cells = 300, processes = 9 }: BenchReplOptions = {}): Promise<readonly ReplBench[]> {
  const probe = await probeSandbox();
  const rows: ReplBench[] = [await benchPlace({ place: 'plain', where: 'unsafe-local', cells, processes })];
  if (probe.available) {
    const jail = jailedCell({ probe });
    rows.push(await benchPlace({ place: 'jail', jail, where: probe, cells, processes }));
  }
  return rows;
}

/** The rows as a table for people. */
export function describeRepl(rows: readonly ReplBench[]): string {
  const line = (name: string, { median, p90, samples }: Spread): string =>
    `  ${name.padEnd(26)} median ${median.toFixed(2).padStart(7)} ms   p90 ${p90.toFixed(2).padStart(7)} ms   n ${samples}`;
  return rows
    .flatMap((row) => [
      `${row.place} (load average ${row.loadAverage.toFixed(2)})`,
      line('empty cell', row.emptyCell),
      line('cell with a call', row.cellWithCall),
      line('cell with a CDP command', row.cellWithCdp),
      line('gone after its deadline', row.kill),
      line('start', row.start),
      `  ${'memory of a runtime'.padEnd(26)} ${row.memoryMiB.toFixed(0)} MiB`,
    ])
    .join('\n');
}

type BenchPlaceOptions = Required<BenchReplOptions> & {
  readonly place: ReplBench['place'];
  readonly jail?: JailedCell;
  readonly where: LocalSessionOptions['jail'];
};

async function benchPlace({ place, jail, where, cells, processes }: BenchPlaceOptions): Promise<ReplBench> {
  const loadAverage = loadavg()[0];
  let memoryMiB = NaN;
  const calls: HostCalls = { call: async () => null, cellEnded: () => undefined };
  const open = (): CellProcess => createCellProcess({ calls, methods: METHODS, help: {}, ...jail });
  const emptyCell: number[] = [];
  const cellWithCall: number[] = [];
  {
    await using repl = open();
    for (const [code, into] of [
      ['', emptyCell],
      ['await click();', cellWithCall],
    ] as const) {
      for (let i = -20; i < cells; i++) {
        const took = await timed(() => repl.execute({ code: `${code}// ${i}` }));
        if (i >= 0) into.push(took);
      }
    }
    const { content = [] } = await repl.execute({ code: 'repl.write(String(process.memoryUsage().rss / 2 ** 20))' });
    if (content[0]?.type === 'text') memoryMiB = Number(content[0].text);
  }
  const cellWithCdp: number[] = [];
  {
    await using session = await openLocalSession({ jail: where }, new AbortController().signal);
    for (let i = -20; i < cells; i++) {
      const code = `await cdp('Runtime.evaluate', { expression: '${i}' });`;
      const took = await timed(() => session.execute({ code }));
      if (i >= 0) cellWithCdp.push(took);
    }
  }
  const start: number[] = [];
  const kill: number[] = [];
  for (let i = 0; i < processes; i++) {
    await using repl = open();
    start.push(await timed(() => repl.execute({ code: '0' })));
    kill.push((await timed(() => repl.execute({ code: 'for (;;);', timeoutMs: KILL_AFTER_MS }))) - KILL_AFTER_MS);
  }
  return {
    place,
    emptyCell: spread(emptyCell),
    cellWithCall: spread(cellWithCall),
    cellWithCdp: spread(cellWithCdp),
    kill: spread(kill),
    start: spread(start),
    memoryMiB,
    loadAverage,
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))];
  return { median: at(0.5), p90: at(0.9), samples: sorted.length };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(describeRepl(await benchRepl()));
