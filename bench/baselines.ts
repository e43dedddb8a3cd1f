// Writes docs/results/baselines.md: oracle, no-op and blind policy on the test tasks of every environment, and any evaluations
// given beside them. What is there already is not played again, so it can be stopped and gone on with; what the page says of
// environments that are not asked for stays.
// Usage: npx tsx bench/baselines.ts [--env a,b] [--episodes 12] [--sessions 2] [--folder runs/baselines] [evaluation …]

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineFacts } from '../src/cli/machine.ts';
import { WEB_SUITES } from '../src/cli/web-suites.ts';
import { baselinePage, readEvaluation } from '../src/experiments/index.ts';
import { mergeSections } from './merge-sections.ts';
import { playSiteBaselines } from './site-baselines.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = 'docs/results/baselines.md';
const POLICIES = ['oracle', 'noop', 'blind'] as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    env: { type: 'string', default: ['click-checkboxes', 'miniwob', ...WEB_SUITES.keys()].join(',') },
    /** Of suites of websites; puzzles and MiniWoB++ play their defaults. */
    episodes: { type: 'string' },
    sessions: { type: 'string', default: '2' },
    folder: { type: 'string', default: 'runs/baselines' },
    /** For the page: what else was going on. */
    note: { type: 'string', default: '' },
  },
});

const folder = resolve(ROOT, values.folder);
const found: string[] = [...positionals];
const environments = values.env.split(',');
for (const env of environments) {
  found.push(...POLICIES.map((policy) => join(folder, `${env}-${policy}`)));
  if (WEB_SUITES.has(env)) continue;
  for (const policy of POLICIES) {
    const out = join(folder, `${env}-${policy}`);
    if (existsSync(join(out, 'evaluation.json'))) continue;
    const resume = existsSync(join(out, 'config.json')) ? ['--resume'] : [];
    await tabwright(['eval', '--env', env, '--model', `scripted:${policy}`, '--out', out, ...resume, '--pages', '4']);
  }
}
await playSiteBaselines({
  suites: environments.filter((env) => WEB_SUITES.has(env)),
  policies: POLICIES,
  folder,
  sessions: Number(values.sessions),
  episodes: values.episodes === undefined ? undefined : Number(values.episodes),
  onProgress: (line) => console.log(`${line}; load average ${machineFacts().loadAverage}`),
  signal: new AbortController().signal,
});
const evaluations = await Promise.all(found.map((path) => readEvaluation(resolve(ROOT, path))));
const before = existsSync(join(ROOT, PAGE)) ? await readFile(join(ROOT, PAGE), 'utf8') : '';
const end = `Written by \`npx tsx bench/baselines.ts\`; see [evaluation](../guide/evaluation.md). On suites of websites browsers go from one episode to
the next as they are, each with an instance of its site to itself, and cells may take five minutes.${values.note === '' ? '' : ` ${values.note}`}
`;
await writeFile(join(ROOT, PAGE), `${mergeSections(baselinePage(evaluations), before)}\n${end}`);
console.log(`${PAGE}: ${evaluations.length} evaluations`);

function tabwright(args: readonly string[]): Promise<void> {
  console.log(`tabwright ${args.join(' ')}`);
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))));
  });
}
