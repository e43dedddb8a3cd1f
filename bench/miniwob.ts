// What oracles, luck and doing nothing reach on MiniWoB++, measured and written to docs/results/miniwob-baselines.*.
// Needs the pages (see docs/guide/miniwob.md). Episodes are kept as they are played, so that a run goes on where an earlier
// one was stopped. Not a test: nothing fails here.
// Usage: npx tsx bench/miniwob.ts play [--pages 2] [--oracle 50] [--blind 20] [--minutes 30]; npx tsx bench/miniwob.ts table

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { TabwrightError } from '../src/core/index.ts';
import {
  createMiniwobSuite,
  measureEpisode,
  MINIWOB_TASKS,
  type MeasuredEpisode,
  type MiniwobPolicy,
} from '../src/envs/index.ts';
import { currentCommit, machineFacts } from '../src/cli/machine.ts';
import { miniwobTables } from './miniwob-table.ts';

const EPISODES = 'runs/miniwob-baselines.jsonl';

/** These wait for animations or markets, and come last. */
const SLOW = /^(click-pie|drag-cube|stock-market|book-flight|choose-date|draw-|email-inbox$|number-checkboxes)/;

type Wanted = { readonly task: string; readonly policy: MiniwobPolicy; readonly seed: number };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    pages: { type: 'string', default: '2' },
    oracle: { type: 'string', default: '50' },
    blind: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '600' },
    tasks: { type: 'string' },
  },
});

if (positionals[0] === 'table') await writeTables();
else await play();

async function writeTables(): Promise<void> {
  await using suite = await createMiniwobSuite({ pages: 1 });
  const { json, markdown } = miniwobTables({
    episodes: readEpisodes(),
    machine: machineFacts(),
    browser: `${suite.browser.product}, ${suite.browser.mode} mode`,
    commit: await currentCommit(),
    date: new Date().toISOString().slice(0, 10),
  });
  writeFileSync('docs/results/miniwob-baselines.json', json);
  writeFileSync('docs/results/miniwob-baselines.md', markdown);
}

function readEpisodes(): readonly MeasuredEpisode[] {
  if (!existsSync(EPISODES)) return [];
  const lines = readFileSync(EPISODES, 'utf8').trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as MeasuredEpisode);
}

/** What is most wanted first: a run may be stopped at any time. */
function* wanted(): Generator<Wanted> {
  const chosen = MINIWOB_TASKS.map(({ name }) => name).filter(
    (name) => values.tasks?.split(',').includes(name) ?? true,
  );
  const tasks = [...chosen.filter((name) => !SLOW.test(name)), ...chosen.filter((name) => SLOW.test(name))];
  const [oracle, blind] = [Number(values.oracle), Number(values.blind)];
  function* of(policy: MiniwobPolicy, from: number, to: number): Generator<Wanted> {
    for (const task of tasks) for (let seed = from; seed < to; seed++) yield { task, policy, seed };
  }
  const policies = ['noop', 'submit', 'first', 'every'] as const;
  // A little of everything first, then all of the oracles, then the rest.
  yield* of('oracle', 0, Math.min(oracle, 3));
  for (const policy of policies) yield* of(policy, 0, Math.min(blind, policy === 'noop' ? 1 : 2));
  yield* of('oracle', 0, oracle);
  for (const policy of policies) yield* of(policy, 0, blind);
}

async function play(): Promise<void> {
  const key = ({ task, policy, seed }: Wanted): string => `${task} ${policy} ${seed}`;
  const done = new Set(readEpisodes().map(key));
  const todo: Wanted[] = [];
  for (const episode of wanted()) {
    if (done.has(key(episode))) continue;
    done.add(key(episode));
    todo.push(episode);
  }
  const end = performance.now() + Number(values.minutes) * 60_000;
  const pages = Number(values.pages);
  mkdirSync('runs', { recursive: true });
  await using suite = await createMiniwobSuite({ pages, maxRelaunches: 1000 });
  let played = 0;
  const worker = async (): Promise<void> => {
    for (let next = todo.shift(); next !== undefined && performance.now() < end; next = todo.shift()) {
      try {
        const { signal } = new AbortController();
        appendFileSync(EPISODES, `${JSON.stringify(await measureEpisode({ suite, ...next, signal }))}\n`);
      } catch (error) {
        // An episode that the browser broke is no result; it is played again by the next run.
        if (!(error instanceof TabwrightError)) throw error;
        console.error(`${key(next)}: ${error.message}`);
      }
      if (++played % 100 === 0)
        console.error(`${played} played, ${todo.length} to go, load ${loadavg()[0].toFixed(1)}`);
    }
  };
  await Promise.all(Array.from({ length: pages }, worker));
}
