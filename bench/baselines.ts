// Writes docs/results/baselines.md: oracle, no-op and blind policy on the test tasks of every environment, by `tabwright eval`,
// and any evaluations given beside them. What is there already is not played again, so it can be stopped and gone on with.
// Usage: npx tsx bench/baselines.ts [--env a,b] [--episodes 12] [--sessions 2] [--folder runs/baselines] [evaluation …]

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WEB_SUITES } from '../src/cli/web-suites.ts';
import { baselinePage, readEvaluation } from '../src/experiments/index.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = 'docs/results/baselines.md';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    env: { type: 'string', default: ['click-checkboxes', 'miniwob', ...WEB_SUITES.keys()].join(',') },
    /** Of suites of websites; puzzles and MiniWoB++ play their defaults. */
    episodes: { type: 'string' },
    sessions: { type: 'string', default: '2' },
    folder: { type: 'string', default: 'runs/baselines' },
  },
});

const found: string[] = [...positionals];
for (const env of values.env.split(',')) {
  for (const policy of ['oracle', 'noop', 'blind']) {
    const folder = join(values.folder, `${env}-${policy}`);
    found.push(folder);
    if (existsSync(join(ROOT, folder, 'evaluation.json'))) continue;
    const sites = WEB_SUITES.has(env)
      ? ['--sessions', values.sessions, ...(values.episodes === undefined ? [] : ['--episodes', values.episodes])]
      : ['--pages', '4'];
    const resume = existsSync(join(ROOT, folder, 'config.json')) ? ['--resume'] : [];
    await tabwright(['eval', '--env', env, '--model', `scripted:${policy}`, '--out', folder, ...resume, ...sites]);
  }
}
const evaluations = await Promise.all(found.map((path) => readEvaluation(resolve(ROOT, path))));
const command = ['npx tsx bench/baselines.ts', ...process.argv.slice(2)].join(' ');
await writeFile(
  join(ROOT, PAGE),
  `${baselinePage(evaluations)}\nWritten by \`${command}\`; see [evaluation](../guide/evaluation.md).\n`,
);
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
