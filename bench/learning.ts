// The learning claim, measured: the default quickstart over several seeds and its negative control, each as a process
// of its own, then one page of figures. Takes six minutes a seed and ten a control on an idle machine of two cores.
// Usage: npm run learning [-- --seeds 1,2,3 --controls 1,2 | --page]

import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { reportSchema, type Report } from '../src/experiments/index.ts';
import { meanInterval } from '../src/stats/index.ts';
import { duration, percent, percentRange, pValue } from '../src/util/index.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = join(ROOT, 'docs', 'results');

type Plan = { readonly name: string; readonly flags: readonly string[] };
type Run = Plan & { readonly report: Report };

const figuresOf = (name: string): string => `quickstart-${name}.json`;

async function runOnce({ name, flags }: Plan): Promise<Run> {
  const out = join('runs', `learning-${name}`);
  const args = ['quickstart', ...flags, '--out', out, '--overwrite'];
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`quickstart ${flags.join(' ')} ended with exit code ${code}`);
  const report = await readReport(join(ROOT, out, 'report.json'));
  await mkdir(RESULTS, { recursive: true });
  await writeFile(join(RESULTS, figuresOf(name)), `${JSON.stringify(report, null, 1)}\n`);
  return { name, flags, report };
}

/** What an earlier call has left. */
async function readEarlier({ name, flags }: Plan): Promise<Run> {
  return { name, flags, report: await readReport(join(RESULTS, figuresOf(name))) };
}

async function readReport(path: string): Promise<Report> {
  return reportSchema.parse(JSON.parse(await readFile(path, 'utf8')));
}

function stageRow({ name, report }: Run): string {
  const cells = report.stages.map(({ exact, exactCI }) =>
    exact === null ? '-' : `${percent(exact)} (${percentRange(exactCI)})`,
  );
  const last = report.stages.at(-1)!;
  return `| ${[name, ...cells, last.actionsMean?.toFixed(2) ?? '-', String(last.invalid), duration(report.seconds), String(report.machine.peakTotalMB ?? '-')].join(' | ')} |`;
}

function comparisonRow({ name, report }: Run): string {
  const cells = report.comparisons.map(({ a, b, difference, bootstrapCI, mcnemarP }) => {
    const interval =
      bootstrapCI === null ? '' : ` [${(100 * bootstrapCI[0]).toFixed(1)}, ${(100 * bootstrapCI[1]).toFixed(1)}]`;
    return `${a} to ${b}: ${(100 * (difference ?? 0)).toFixed(1)} pts${interval}, p ${pValue(mcnemarP)}`;
  });
  return `- ${name}: ${cells.join('; ')}`;
}

function byWanted({ name, report }: Run): string {
  const last = report.stages.at(-1)!;
  return `- ${name}: ${last.byWanted.map(({ wanted, exact, valid }) => `${wanted} wanted ${percent(exact)} of ${valid}`).join(', ')}`;
}

function page(runs: readonly Run[], controls: readonly Run[]): string {
  const finals = runs.map(({ report }) => report.stages.at(-1)!.exact ?? 0);
  const mean = meanInterval(finals);
  const all = [...runs, ...controls];
  const commits = [...new Set(all.map(({ report }) => String(report.commit)))];
  const machine = Object.entries(runs[0].report.machine).filter(([key]) => !key.startsWith('peak'));
  return [
    '# The quickstart, measured',
    '',
    `Made by \`npm run learning\` on ${new Date().toISOString().slice(0, 10)}, ${commits.length > 1 ? 'commits' : 'commit'} ${commits.join(', ')}. Machine: ${machine.map(([key, value]) => `${key} ${value}`).join(', ')}.`,
    'Exact success on the same 200 held-out puzzles at every stage, Wilson 95 % intervals in brackets.',
    '',
    '| run | base | SFT | GRPO | actions | invalid | time | peak MB |',
    '|---|---|---|---|---|---|---|---|',
    ...all.map(stageRow),
    '',
    `Mean after GRPO over ${finals.length} seeds: ${percent(mean.mean)}${mean.interval ? ` (95 % interval of the mean over seeds, Student's t: ${percentRange(mean.interval)})` : ''}.`,
    'Peak MB is of node and Chromium together: the sum of proportional set sizes, looked at twice a second.',
    ...(controls.length > 0 ? ['A control is the same run with rewards shuffled within each batch.'] : []),
    '',
    '## Between stages, paired by puzzle',
    '',
    ...all.map(comparisonRow),
    '',
    '## After GRPO, by number of wanted boxes',
    '',
    ...all.map(byWanted),
    '',
    '## Commands',
    '',
    ...all.map(
      ({ name, flags }) =>
        `- ${name}: \`npm run quickstart -- ${flags.join(' ')}\` (figures: [${figuresOf(name)}](${figuresOf(name)}))`,
    ),
    '',
  ].join('\n');
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1,2,3' },
    controls: { type: 'string', default: '1,2' },
    // Writes the page anew from the figures of earlier runs.
    page: { type: 'boolean', default: false },
  },
});
const listed = (seeds: string): string[] => seeds.split(',').filter((seed) => seed !== '');
const seeds = listed(values.seeds).map((seed) => ({ name: `seed-${seed}`, flags: ['--seed', seed] }));
const controls = listed(values.controls).map((seed) => {
  return { name: `control-${seed}`, flags: ['--seed', seed, '--grpo.shuffle-rewards'] };
});
const carryOut = async (plans: readonly Plan[]): Promise<Run[]> => {
  const runs: Run[] = [];
  for (const plan of plans) runs.push(await (values.page ? readEarlier : runOnce)(plan));
  return runs;
};
const runs = await carryOut(seeds);
await writeFile(join(RESULTS, 'quickstart.md'), page(runs, await carryOut(controls)));
console.log(`Written: ${join(RESULTS, 'quickstart.md')}`);
