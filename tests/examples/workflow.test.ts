// The numbered scripts of examples/, in the order in which people run them, against servers of this machine: a model with
// random weights behind `tabwright serve`, a pool of four behind `tabwright browsers serve`, our own sites. What is proven
// is the wiring: the same scripts go to the hosted services when their keys are set instead of these addresses.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKernelClient, createKernelProvider } from '../../src/repl/index.ts';
import { readRun } from '../../src/store/index.ts';
import { serveModel, type ServedModel } from '../cli/serve-model.ts';
import { writeTinyPretrained } from '../cli/tiny-pretrained.ts';
import { servePages, type PageServer } from '../repl/page-server.ts';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { serveByCli, type ServingCli } from '../servers/serving-cli.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BASE = 'Qwen/Qwen3-0.6B';

let folder: string;
let model: ServedModel;
let browsers: ServingCli;
let pages: PageServer;
let environment: Readonly<Record<string, string>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-workflow-'));
  if (noJail) return;
  const tiny = await writeTinyPretrained(folder);
  const sites = await freePort();
  pages = await servePages();
  [model, browsers] = await Promise.all([
    serveModel(['--model', `hf:${tiny}`, '--model-name', BASE, '--checkpoints', join(folder, 'served')]),
    serveByCli([
      ...['--port', '0', '--max-browsers', '4'],
      ...['--allow', `*.test=127.0.0.1:${sites},${new URL(pages.origin).host}`],
    ]),
  ]);
  environment = {
    TINKER_BASE_URL: model.url,
    KERNEL_BASE_URL: browsers.url,
    WORKFLOW_MODEL: `tinker:${BASE}`,
    WORKFLOW_POOL_SIZE: '4',
    WORKFLOW_OUT: join(folder, 'runs'),
    WORKFLOW_SITES_PORT: String(sites),
  };
}, 300_000);
afterAll(async () => {
  await browsers?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
  await pages?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}, 120_000);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function script(name: string, ...args: readonly string[]): Promise<string> {
  return scriptIn(environment, name, args);
}

type Settings = Readonly<Record<string, string>>;

async function scriptIn(settings: Settings, name: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await endOf(settings, name, args);
  expect(code, `${name}\n${stderr}`).toBe(0);
  return stdout;
}

async function endOf(settings: Settings, name: string, args: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/${name}.ts`, ...args], {
    cwd: ROOT,
    env: { ...process.env, CI: '1', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 900_000,
    killSignal: 'SIGKILL',
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

/** Of a model with bytes for tokens and random weights: it says little, and that is soon over. */
const speech = (): readonly string[] => [
  ...['--tokenizer', join(folder, 'Qwen3-0.6B'), '--context-length', '8192'],
  ...['--turn-tokens', '60', '--max-turns', '1', '--trajectory-tokens', '8000'],
];

it('at hosted services it is about public tasks that a judge grades', { timeout: 240_000 }, async () => {
  const [tasks, out] = [join(folder, 'public.jsonl'), join(folder, 'hosted')];
  const rows = ['a.example', 'b.example', 'c.example'].map((host, id) =>
    JSON.stringify({ id, initial_url: `https://${host}/`, task: 'List the fields of the sign-in form.' }),
  );
  await writeFile(tasks, rows.join('\n'));
  const hosted = {
    ...{ KERNEL_BASE_URL: '', KERNEL_API_KEY: '', TINKER_BASE_URL: '', TINKER_API_KEY: '', OPENROUTER_API_KEY: '' },
    ...{ WORKFLOW_TASKS: tasks, WORKFLOW_OUT: out, HF_ENDPOINT: 'http://127.0.0.1:9' },
  };
  expect(await scriptIn(hosted, '03-split-agent-auth', [])).toMatch(/^2 tasks for training, 1 /);
  const plan = await scriptIn(hosted, '05-train', ['--dry-run']);
  expect(plan).toMatch(/^ {2}name +tasks:.*train\.jsonl$/m);
  expect(plan).toMatch(/^ {2}browsers +64 asked of Kernel's pool rl-training$/m);
  expect(plan).toMatch(/^ {2}reward +webjudge$/m);
  expect(plan).toMatch(/^ {2}OPENROUTER_API_KEY +not set$/m);
});

it('says what is missing before anything is done', { timeout: 120_000 }, async () => {
  const keyless = { KERNEL_BASE_URL: '', KERNEL_API_KEY: '', WORKFLOW_TASKS: join(folder, 'nowhere.jsonl') };
  const [pool, split] = await Promise.all([
    endOf(keyless, '01-create-pool', []),
    endOf(keyless, '03-split-agent-auth', []),
  ]);
  expect([pool.code, pool.stderr]).toEqual([2, expect.stringMatching(/^Set KERNEL_API_KEY [^\n]+\n$/)]);
  expect([split.code, split.stderr]).toEqual([
    2,
    expect.stringMatching(/nowhere\.jsonl: set WORKFLOW_TASKS [^\n]+\n$/),
  ]);
});

describe.skipIf(noJail)(`the reference workflow${whyNot}`, () => {
  it('runs from the pool to the adapter', { timeout: 3_000_000 }, async () => {
    expect(await script('01-create-pool')).toMatch(/^Pool rl-training of 4 browsers: /);
    expect(await script('01-create-pool')).toBe('There is a pool rl-training already.\n');
    const shown = await script('02-run-one-url', `${pages.origin}/plain`, 'What is the heading?', ...speech());
    expect(shown).toContain('Episode, log and pictures: ');
    expect(await script('03-split-agent-auth')).toMatch(/agent_auth.*336/);
    const few = ['--episodes', '3'];
    await script('04-baseline', ...few, ...speech());
    const plan = await script('05-train', ...speech(), '--dry-run');
    expect(plan).toMatch(/^ {2}turn tokens +60$/m);
    expect(plan).toMatch(/^ {2}trajectory tokens +8000$/m);
    // More episodes at once than the pool has browsers: they queue, and none fails.
    const small = ['--steps', '1', '--groups', '2', '--group-size', '4', '--eval-episodes', '2', '--beta', '0'];
    await script('05-train', ...small, ...speech());
    const run = await readRun(join(folder, 'runs', 'train'));
    expect(run.config).toMatchObject({ pool: 'rl-training', sessions: 64, turnTokens: 60, trajectoryTokens: 8000 });
    const rows = await run.readMetrics();
    expect(rows.map((row) => row['rollout_errors/total'] ?? row['test/rollout_errors/total'])).toEqual([0, 0]);
    expect(rows[0]['env/all/total_episodes']).toBe(8);
    await script('06-evaluate-checkpoint', ...few, ...speech());
    expect(await readFile(join(folder, 'runs', 'baselines.md'), 'utf8')).toMatch(/tinker:\/\/.*\/sampler_weights\//);
    await script('07-plot');
    expect((await readFile(join(folder, 'runs', 'success.png'))).subarray(1, 4).toString()).toBe('PNG');
    await script('08-export-adapter');
    const adapter = JSON.parse(
      await readFile(join(folder, 'runs', 'adapter', 'adapter_config.json'), 'utf8'),
    ) as object;
    expect(adapter).toMatchObject({ r: 32, base_model_name_or_path: BASE });
  });

  it('64 browsers asked of a pool of 4 queue and do not fail', { timeout: 1_800_000 }, async () => {
    await script('01-create-pool');
    const client = createKernelClient({ apiKey: 'none', baseUrl: browsers.url });
    await using provider = createKernelProvider({ client, pool: 'rl-training' });
    const { signal } = new AbortController();
    let [held, most] = [0, 0];
    const played = await Promise.all(
      Array.from({ length: 64 }, async () => {
        await using lease = await provider.acquire({ signal, deadlineMs: 1_700_000 });
        most = Math.max(most, ++held);
        const { success } = await lease.execute({ code: 'repl.write(1)', signal });
        held--;
        return success;
      }),
    );
    expect(played).toEqual(Array(64).fill(true));
    // Making a browser as new takes longer than this cell, so that seldom all four are held at once; never more are.
    expect(most).toBeLessThanOrEqual(4);
  });
});
