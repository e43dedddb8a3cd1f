// Part B: the recipes of tinker-cookbook, unchanged, against our server: supervised learning, then reinforcement
// learning from the state that it saved. That a recipe ends well proves little, since it skips steps that have nothing
// to learn from: the server's own counts must show the passes and the steps, and the figures that the recipe wrote
// must show a lower loss or a higher reward.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from '../command.ts';
import type { Context } from '../context.ts';
import { startOurServer, type OurServer } from '../our-server.ts';
import { recipeArguments, type RecipeName } from '../recipes.ts';
import { ensure } from '../report.ts';
import { ensureHub } from '../tiny-model.ts';
import { ensureOverlay, type Venv } from '../venvs.ts';

const SUPERVISED_STEPS = 40;
const POLICY_STEPS = 8;
/** From about one half; without learning three steps' mean of 64 samples each stays within 0.1 of it. */
const LEAST_RISE = 0.2;
const RECIPE_MS = 900_000;

type Run = {
  readonly context: Context;
  readonly part: string;
  readonly venv: Venv;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logs: string;
  readonly server: OurServer;
  readonly choosesLoss: boolean;
};

export async function cookbookPart(context: Context, version: '0.5.8' | '0.6.1'): Promise<void> {
  const part = `cookbook ${version}`;
  const venv = await context.venv('cookbook-0.5.8');
  const newer = version === '0.6.1';
  const overlay: Readonly<Record<string, string>> = newer
    ? { PYTHONPATH: await ensureOverlay('tinker-cookbook==0.6.1', venv, context) }
    : {};
  const hub = await ensureHub(context);
  await using server = await startOurServer({
    model: hub.model,
    folder: join(context.work, `served-cookbook-${version}`),
    log: join(context.logs, `server-cookbook-${version}.log`),
  });
  const logs = join(context.work, part.replace(' ', '-'));
  await mkdir(logs, { recursive: true });
  const run: Run = { context, part, venv, env: overlay, cwd: hub.folder, logs, server, choosesLoss: newer };

  await context.report.check(part, `the installed cookbook is ${version}`, async () => {
    let found = '';
    const code = 'import tinker_cookbook, importlib.metadata as m; print(m.version("tinker-cookbook"))';
    await python(run, 'version', ['-c', code], (line) => (found = line));
    ensure(found === version, `found ${found}`);
  });
  await context.report.check(part, 'sl_loop trains every step and lowers its loss', () => supervised(run, 'sl_loop'));
  const state = await lastState(join(logs, 'sl_loop'));
  await context.report.check(
    part,
    'rl_loop resumes the supervised state, trains on groups of 16 and raises its reward',
    async () => {
      // The recipe resumes from whatever its log folder names: the supervised state, at step 0.
      const folder = join(logs, 'rl_loop');
      await mkdir(folder, { recursive: true });
      await writeFile(
        join(folder, 'checkpoints.jsonl'),
        `${JSON.stringify({ name: 'sft', batch: 0, state_path: state })}\n`,
      );
      return policy(run, 'rl_loop', 'reward/total', state);
    },
  );
  await context.report.check(
    part,
    'rl_basic loads the supervised state, trains on groups of 16 and raises its reward',
    () => policy(run, 'rl_basic', 'env/all/reward/total', state),
  );
  await context.report.check(part, 'sl_basic trains every step and lowers its loss', () => supervised(run, 'sl_basic'));
}

async function supervised(run: Run, name: RecipeName): Promise<string> {
  const done = await counted(run, () => recipe(run, name, SUPERVISED_STEPS));
  const losses = await figures(join(run.logs, name), 'train_mean_nll');
  ensure(losses.length === SUPERVISED_STEPS, `${losses.length} losses were logged`);
  ensure(
    done.passes >= SUPERVISED_STEPS && done.steps === SUPERVISED_STEPS,
    `${done.passes} passes, ${done.steps} steps`,
  );
  const [first, last] = [losses[0], losses[losses.length - 1]];
  ensure(last < 0.5 * first, `loss from ${first} to ${last}`);
  return `${first.toFixed(2)} to ${last.toFixed(2)} in ${done.steps} steps, ${done.seconds}`;
}

async function policy(run: Run, name: RecipeName, metric: string, state: string): Promise<string> {
  const done = await counted(run, () => recipe(run, name, POLICY_STEPS, state));
  const rewards = await figures(join(run.logs, name), metric);
  ensure(rewards.length === POLICY_STEPS, `${rewards.length} rewards were logged`);
  ensure(
    done.passes >= POLICY_STEPS / 2 && done.steps >= POLICY_STEPS / 2,
    `${done.passes} passes, ${done.steps} steps`,
  );
  ensure(rewards[0] > 0 && rewards[0] < 1, `the first reward, ${rewards[0]}, leaves nothing to learn from`);
  const [first, last] = [rewards[0], mean(rewards.slice(-3))];
  const shown = rewards.map((reward) => reward.toFixed(2)).join(' ');
  ensure(last > first + LEAST_RISE, `rewards ${shown}`);
  return `rewards ${shown}; ${done.passes} passes, ${done.steps} steps, ${done.seconds}`;
}

async function recipe(run: Run, name: RecipeName, steps: number, state?: string): Promise<void> {
  const logPath = join(run.logs, name);
  const { server, choosesLoss } = run;
  const args = recipeArguments(name, {
    url: server.url,
    logPath,
    steps,
    choosesLoss,
    ...(state === undefined ? {} : { state }),
  });
  await python(run, name, ['-m', `tinker_cookbook.recipes.${name}`, ...args]);
}

async function python(run: Run, name: string, args: readonly string[], onLine?: (line: string) => void): Promise<void> {
  await mustRun({
    what: `${run.part} ${name}`,
    command: run.venv.python,
    args: ['-u', ...args],
    // A home of its own: the library of data sets keeps what it once read under a name.
    env: {
      ...run.env,
      HF_HOME: join(run.context.work, 'hugging-face'),
      HF_HUB_OFFLINE: '1',
      TINKER_API_KEY: 'tml-conformance',
      PYTHONDONTWRITEBYTECODE: '1',
    },
    cwd: run.cwd,
    deadlineMs: RECIPE_MS,
    log: join(run.context.logs, `${run.part.replace(' ', '-')}-${name}.log`),
    ...(onLine === undefined ? {} : { onLine }),
  });
}

/** What the server did while `work` ran. */
async function counted(run: Run, work: () => Promise<void>) {
  const read = () => Promise.all([run.server.finished('forward_backward'), run.server.finished('optim_step')]);
  const started = performance.now();
  const before = await read();
  await work();
  const after = await read();
  const seconds = `${((performance.now() - started) / 1000).toFixed(0)} s`;
  return { passes: after[0] - before[0], steps: after[1] - before[1], seconds };
}

/** One figure of every step, as the recipe wrote it. */
async function figures(folder: string, name: string): Promise<readonly number[]> {
  const rows = await jsonLines(join(folder, 'metrics.jsonl'));
  return rows.map((row) => row[name]).filter((value): value is number => typeof value === 'number');
}

async function lastState(folder: string): Promise<string> {
  const rows = await jsonLines(join(folder, 'checkpoints.jsonl'));
  const states = rows.map((row) => row['state_path']).filter((path): path is string => typeof path === 'string');
  const last = states.at(-1);
  if (last === undefined) throw new Error(`no state was saved in ${folder}`);
  return last;
}

async function jsonLines(path: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}
