// Episodes leave no process, no descriptor and no file of theirs. The long run of the same is `bench/pool.ts --episodes`.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { playEpisodes } from '../../bench/episodes.ts';
import { createLocalProvider } from '../../src/repl/index.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';

// A temp folder of our own: other tests use the machine's at the same time.
const before = process.env.TMPDIR;
const temp = mkdtempSync(join(tmpdir(), 'leaks-'));
process.env.TMPDIR = temp;
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(temp, { recursive: true });
});

test.skipIf(noJail).each([
  { way: 'a browser each', reuse: 1, episodes: 4 },
  { way: 'browsers used again', reuse: 3, episodes: 6 },
])(
  `episodes leave nothing: $way${whyNot}`,
  async ({ reuse, episodes }) => {
    const { failed, ...used } = await playEpisodes({
      open: (egress) => createLocalProvider({ jail: probe, egress, sessions: 2, episodes: reuse }),
      episodes,
      concurrency: 2,
    });
    expect(failed).toBe(0);
    expect(used.after.processes).toBe(used.before.processes);
    expect(used.after.descriptors).toBe(used.before.descriptors);
    expect(readdirSync(temp)).toEqual([]);
  },
  120_000,
);
