// The tables of docs/results/miniwob-baselines.*, from the episodes and the tasks' rows. Pure.

import type { Machine } from '../src/experiments/index.ts';
import {
  MINIWOB_TASKS,
  MINIWOB_VERSION,
  type MeasuredEpisode,
  type MiniwobPolicy,
  type MiniwobTask,
} from '../src/envs/index.ts';
import { wilsonInterval } from '../src/stats/index.ts';

type Cell = {
  readonly episodes: number;
  readonly success: number;
  readonly lenient: number;
  readonly lowestRaw: number | null;
};

type Row = MiniwobTask & {
  readonly measured: Readonly<Record<MiniwobPolicy, Cell>>;
  readonly problems: readonly string[];
};

export type TableOptions = {
  readonly episodes: readonly MeasuredEpisode[];
  readonly machine: Machine;
  readonly browser: string;
  readonly commit: string | null;
  /** e.g. `2026-11-30`. */
  readonly date: string;
};

const POLICIES: readonly MiniwobPolicy[] = ['oracle', 'noop', 'submit', 'first', 'every'];
const BLIND: readonly MiniwobPolicy[] = ['submit', 'first', 'every'];

export function miniwobTables(options: TableOptions): { readonly json: string; readonly markdown: string } {
  const rows = MINIWOB_TASKS.map((task) => rowOf(task, options.episodes));
  const overall = summarise(rows);
  const { episodes: _, ...measured } = options;
  const json = { suite: 'miniwob', version: MINIWOB_VERSION, measured, overall, tasks: rows };
  return { json: `${JSON.stringify(json, null, 1)}\n`, markdown: page(rows, overall, options) };
}

function rowOf(task: MiniwobTask, episodes: readonly MeasuredEpisode[]): Row {
  const own = episodes.filter((episode) => episode.task === task.name);
  const measured = Object.fromEntries(
    POLICIES.map((policy) => [policy, cellOf(own.filter((episode) => episode.policy === policy))]),
  ) as Row['measured'];
  const failed = own.filter(({ policy, success }) => policy === 'oracle' && !success);
  const problems = failed
    .slice(0, 3)
    .map(({ seed, raw, problem }) => `seed ${seed}: ${problem ?? `raw reward ${raw}`}`);
  return { ...task, measured, problems };
}

function cellOf(episodes: readonly MeasuredEpisode[]): Cell {
  const raws = episodes.flatMap(({ raw }) => (raw === null ? [] : [raw]));
  return {
    episodes: episodes.length,
    success: episodes.filter(({ success }) => success).length,
    lenient: episodes.filter(({ lenient }) => lenient).length,
    lowestRaw: raws.length === 0 ? null : Math.min(...raws),
  };
}

type Overall = {
  readonly oracle: number | null;
  readonly noop: number | null;
  /** Of the best blind policy, task by task. */
  readonly blind: number | null;
  readonly blindLenient: number | null;
  /** Tasks with 50 episodes of the oracle or more, and those of them with exact success in at least 99 % of them. */
  readonly oracleTasks: number;
  readonly oracleAtLeast99: number;
};

/** Fewest episodes a task for which a mean says something; the best of three blind policies is luck with few. */
const FEWEST: Readonly<Record<MiniwobPolicy, number>> = { oracle: 3, noop: 1, submit: 10, first: 10, every: 10 };

const share = (row: Row, policy: MiniwobPolicy, count: 'success' | 'lenient' = 'success'): number | null => {
  const cell = row.measured[policy];
  return cell.episodes < FEWEST[policy] ? null : cell[count] / cell.episodes;
};

function summarise(rows: readonly Row[]): Overall {
  const mean = (values: readonly (number | null)[]): number | null =>
    values.some((value) => value === null)
      ? null
      : values.reduce<number>((sum, value) => sum + value!, 0) / values.length;
  const best = (row: Row, count: 'success' | 'lenient'): number | null => {
    const shares = BLIND.map((policy) => share(row, policy, count));
    return shares.includes(null) ? null : Math.max(...(shares as number[]));
  };
  const full = rows.filter(({ measured }) => measured.oracle.episodes >= 50);
  return {
    oracle: mean(rows.map((row) => share(row, 'oracle'))),
    noop: mean(rows.map((row) => share(row, 'noop'))),
    blind: mean(rows.map((row) => best(row, 'success'))),
    blindLenient: mean(rows.map((row) => best(row, 'lenient'))),
    oracleTasks: full.length,
    oracleAtLeast99: full.filter(({ measured }) => measured.oracle.success >= 0.99 * measured.oracle.episodes).length,
  };
}

function page(rows: readonly Row[], overall: Overall, { machine, browser, commit, date }: TableOptions): string {
  const percent = (value: number | null): string => (value === null ? '-' : `${(100 * value).toFixed(1)} %`);
  const names = (chosen: readonly Row[]): string => chosen.map(({ name }) => `\`${name}\``).join(', ');
  const below = rows.filter(({ measured: { oracle } }) => oracle.success < 0.99 * oracle.episodes);
  const blind = (row: Row): string => BLIND.map((policy) => `${count(row.measured[policy])}`).join(' | ');
  const line = (row: Row): string => {
    const { oracle, noop } = row.measured;
    const lowest = oracle.lowestRaw === null ? '-' : oracle.lowestRaw.toFixed(3).replace(/\.?0+$/, '');
    const rule = row.threshold === 1 ? '= 1' : `≥ ${row.threshold}`;
    return `| ${row.name} | ${row.split} | ${rule} | ${row.reset} | ${count(oracle)} | ${lowest} | ${count(noop)} | ${blind(row)} |`;
  };
  return `# MiniWoB++: thresholds, oracles, blind baselines

Measured on ${date} with ${browser}, ${machine.cores} cores of ${machine.processor} (shared with other work, so no times are given), Node
${machine.node}, commit ${commit ?? 'unknown'}. Seeds are the pages' own, from 0. Commands (the pages are needed, see [the guide](../guide/miniwob.md)):

\`\`\`
npx tsx bench/miniwob.ts play --oracle 50 --blind 10
npx tsx bench/miniwob.ts table
\`\`\`

Success is exact: the page's raw reward reaches the task's threshold, whatever time it took. The threshold is 1 except for
${rows.filter(({ threshold }) => threshold < 1).length} tasks of drawing and colours, whose reward says how near the answer is.

| policy | what it does | exact, mean over the ${rows.length} tasks |
|---|---|---|
| oracle | code that reads the page's truth and acts through the agent's tools | ${percent(overall.oracle)} |
| no-op | waits | ${percent(overall.noop)} |
| blind | the best of three per task: Submit at once; the first element, then Submit; every element once, then Submit | ${percent(overall.blind)} |
| blind, raw reward above 0 | the same episodes, by the rule that partial credit is success | ${percent(overall.blindLenient)} |

Episodes: ${POLICIES.map((policy) => `${policy} ${episodesOf(rows, policy)}`).join(', ')}. Means are given where every task has enough of them (oracle 3, no-op 1,
each blind policy 10); the commands go on from what is there.

Oracles with 50 episodes or more: ${overall.oracleTasks} tasks; exact success in at least 99 % of the episodes: ${overall.oracleAtLeast99} of them.
${below.length === 0 ? '' : `Below 99 % so far: ${below.map((row) => `\`${row.name}\` (${count(row.measured.oracle)}${row.problems.length === 0 ? '' : `; ${row.problems[0]}`})`).join(', ')}.\n`}
Blind policies succeed more often by the lenient rule in: ${
    rows
      .filter((row) => BLIND.some((policy) => row.measured[policy].lenient > row.measured[policy].success))
      .map((row) => {
        const policy = BLIND.reduce((a, b) => (row.measured[b].lenient > row.measured[a].lenient ? b : a));
        const cell = row.measured[policy];
        return `\`${row.name}\` (${cell.success} exact, ${cell.lenient} lenient of ${cell.episodes})`;
      })
      .join(', ') || 'none'
  }.

- Wrong actions cannot end an episode of ${names(rows.filter(({ canFail }) => !canFail))}: only the limit of actions ends a failing one.
- Text does not suffice for ${rows
    .filter(({ needsPicture }) => needsPicture !== undefined)
    .map(({ name, needsPicture }) => `\`${name}\` (${needsPicture})`)
    .join(', ')}.
- Reset \`reuse\`: the page starts its next problem itself, and nothing tells it from a fresh one; \`reload\`: an episode would leave traces.

## Every task

Successes of episodes; \`lowest\` is the lowest raw reward of the oracle's episodes that ended.

| task | half | success is raw reward | reset | oracle | lowest | no-op | Submit | first, Submit | every, Submit |
|---|---|---|---|---|---|---|---|---|---|
${rows.map(line).join('\n')}

An oracle with ${50} of 50 has a 95 % interval of ${wilsonInterval(50, 50)
    .map((bound) => `${(100 * bound).toFixed(1)} %`)
    .join(' to ')} (Wilson).
`;
}

/** Fewest and most a task, and in all. */
function episodesOf(rows: readonly Row[], policy: MiniwobPolicy): string {
  const counts = rows.map(({ measured }) => measured[policy].episodes);
  const sum = counts.reduce((a, b) => a + b, 0);
  return `${sum} (${Math.min(...counts)} to ${Math.max(...counts)} a task)`;
}

function count({ success, episodes }: Cell): string {
  return episodes === 0 ? '-' : `${success}/${episodes}`;
}
