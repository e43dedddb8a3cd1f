// What the numbered scripts share: settings from the environment, and `tabwright` as a process. With KERNEL_API_KEY and
// TINKER_API_KEY set they run at the hosted services; with KERNEL_BASE_URL and TINKER_BASE_URL at servers of one's own. What
// else stands on a script's command line goes to the last `tabwright` that it starts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const setting = (name: string, usual: string): string => process.env[name] || usual;

export const MODEL = setting('WORKFLOW_MODEL', 'tinker:Qwen/Qwen3.6-35B-A3B');
export const POOL = setting('WORKFLOW_POOL', 'rl-training');
export const POOL_SIZE = Number(setting('WORKFLOW_POOL_SIZE', '64'));
/** Browsers that episodes ask for at once; those that the pool has not are waited for. */
export const SESSIONS = Number(setting('WORKFLOW_SESSIONS', '64'));
/** Where everything goes that the scripts make. */
export const OUT = setting('WORKFLOW_OUT', 'runs/workflow');

/** Browsers of this machine can reach sites of this machine. */
export const isLocal = /^https?:\/\/(127\.|localhost|\[::1\])/.test(setting('KERNEL_BASE_URL', ''));
/** Local browsers play our own sites, at the port that `tabwright browsers serve --allow` was told; others public ones. */
export const SITES_PORT = setting('WORKFLOW_SITES_PORT', '8600');
/** Public tasks, rows of `id`, `initial_url` and `task`. */
export const TASKS = setting('WORKFLOW_TASKS', 'agent_auth.jsonl');

export const at = (...names: readonly string[]): string => join(OUT, ...names);

/** Public tasks hold no answers, so a judge decides; on our own sites code does. */
const REWARD = ['--reward', 'webjudge', '--judge-model', setting('WORKFLOW_JUDGE', 'openai/o4-mini')];

/** Of training: its half of our suite is the default, that of a file is a file. */
export const TRAINING = isLocal
  ? ['--env', 'agent_auth', '--sites-port', SITES_PORT]
  : ['--env', `tasks:${at('split', 'train.jsonl')}`, ...REWARD];

/** Of measurements. */
export const MEASUREMENT = isLocal
  ? ['--env', 'agent_auth', '--sites-port', SITES_PORT, '--split', 'test']
  : ['--env', `tasks:${at('split', 'test.jsonl')}`, ...REWARD];

export const HELD_OUT = isLocal ? 'test' : at('split', 'test.jsonl');

export const BROWSERS = ['--tool', 'browser_repl', '--pool', POOL, '--sessions', String(SESSIONS)];

/** Ends this process as the command ended, unless that went well. */
export async function tabwright(...args: readonly string[]): Promise<void> {
  console.error(`tabwright ${args.join(' ')}`);
  const child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'src/cli/main.ts'), ...args], {
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) process.exit(code ?? 1);
}

/** What stands on this script's own command line. */
export const more = process.argv.slice(2);
