// `tabwright serve` as a process, and docs/guide/serve.md: its commands start, its program prints what it promises.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAliases } from '../../src/cli/served-models.ts';
import { ADAM, crossEntropy, RawClient, sampleBody, supervised } from './tinker-client.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT = 420_000;
const guide = readFileSync(new URL('../../docs/guide/serve.md', import.meta.url), 'utf8');
const blocks = [...guide.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-serve-cli-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Serving = {
  readonly url: string;
  readonly models: readonly string[];
  readonly pid: number;
  readonly stop: () => Promise<number | null>;
  /** Code and standard error, when it ends by itself. */
  readonly ended: () => Promise<{ readonly code: number | null; readonly stderr: string }>;
};

async function serve(args: readonly string[], env: Record<string, string> = {}): Promise<Serving> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'serve', ...args, '--json'], {
    cwd: ROOT,
    env: { ...process.env, CI: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const result = await new Promise<{ url: string; models: readonly string[] }>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as { kind: string; url: string; models: readonly string[] };
      if (event.kind === 'result') resolve(event);
    });
    void exited.then(([code]) => reject(new Error(`the server ended with ${code}: ${stderr}`)));
  });
  return {
    ...result,
    pid: child.pid!,
    ended: async () => ({ code: (await exited)[0], stderr }),
    stop: async () => {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
  };
}

const commands = blocks
  .filter(({ language }) => language === '')
  .map(({ text }) => /npm run tabwright -- serve (.*)$/m.exec(text)![1].split(' '));
/** A free port instead of the one that is written there. */
const elsewhere = (args: readonly string[]): readonly string[] => [
  ...args.filter((arg) => arg !== '--port' && arg !== '8485'),
  '--port',
  '0',
  '--checkpoints',
  join(folder, 'guide'),
];

test(
  'the program of the guide prints what the guide says, and SIGTERM ends the server well',
  async () => {
    const server = await serve(elsewhere(commands[0]));
    const program = blocks.find(({ language }) => language === 'js')!.text;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', program.replace('http://127.0.0.1:8485', server.url)],
      { cwd: ROOT, timeout: 240_000 },
    );
    expect(stdout.trim()).toBe(/It prints `([^`]*)`/.exec(guide)![1]);
    expect(await server.stop()).toBe(0);
  },
  TIMEOUT,
);

test(
  'a model of the guide answers to a hub name, is trained, saved, and its checkpoint is whole after SIGTERM',
  async () => {
    const server = await serve(elsewhere(commands[1]), { TABWRIGHT_SERVE_KEY: 'tml-mine' });
    expect(server.models).toEqual(['nano', 'Qwen/Qwen3-8B']);
    expect((await new RawClient(server.url).post('client/config')).status).toBe(401);
    const client = new RawClient(server.url, { 'X-API-Key': 'tml-mine' });
    const model = await client.model(await client.session(), { base_model: 'Qwen/Qwen3-8B' });
    const row = supervised([257, 65, 66, 67, 261]);
    const first = await client.output(await client.pass(crossEntropy(model, 1, [row])));
    await client.result(
      await client.submit('optim_step', { model_id: model, seq_id: 2, adam_params: { ...ADAM, learning_rate: 0.01 } }),
    );
    const second = await client.output(await client.pass(crossEntropy(model, 3, [row])));
    expect(second.metrics['loss:sum']).toBeLessThan(first.metrics['loss:sum']);
    await client.result(await client.submit('save_weights', { model_id: model, seq_id: 4, path: 'a' }));
    const saved = await client.submit('save_weights_for_sampler', { model_id: model, seq_id: 5, path: 'b' });
    await client.result(saved);
    const archive = await client.send('GET', `training_runs/${model}/checkpoints/sampler_weights/b/archive`);
    expect([archive.status, archive.body['error']]).toEqual([400, expect.stringMatching(/convolution/) as string]);
    expect(await server.stop()).toBe(0);
    const again = await serve(elsewhere(commands[1]), { TABWRIGHT_SERVE_KEY: 'tml-mine' });
    const other = new RawClient(again.url, { 'X-API-Key': 'tml-mine' });
    const session = await other.session();
    const path = `tinker://${model}/weights/a`;
    const load = { session_id: session, model_seq_id: 0, path, optimizer: true };
    await other.result(await other.submit('load_weights', load));
    const restored = await other.output(await other.pass(crossEntropy(`${session}:train:0`, 1, [row])));
    expect(restored.metrics['loss:sum']).toBe(second.metrics['loss:sum']);
    expect(await again.stop()).toBe(0);
    expect(await readdir(join(folder, 'guide'))).toEqual(['runs']);
  },
  TIMEOUT,
);

test(
  'heartbeats are answered while two models are trained and 256 requests are sampled',
  async () => {
    const server = await serve(elsewhere(commands[0]));
    try {
      const client = new RawClient(server.url);
      const session = await client.session();
      const models = [
        await client.model(session, { base_model: 'nano' }),
        await client.model(session, { base_model: 'nano', model_seq_id: 1 }),
      ];
      const rows = Array.from({ length: 8 }, (_, i) =>
        supervised(Array.from({ length: 200 + i }, (_, t) => 65 + (t % 26))),
      );
      const passes = models.flatMap((model) =>
        [1, 2].map(async (seqId) => client.output(await client.pass(crossEntropy(model, seqId, rows)))),
      );
      const body = { session_id: session, sampling_session_seq_id: 0, base_model: 'nano' };
      const sampler = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
      const samples = Array.from({ length: 256 }, async (_, i) => {
        const asked = sampleBody(sampler, i, { sampling_params: { max_tokens: 8, seed: i, stop: [] } });
        return client.samples(await client.submit('asample', asked));
      });
      let done = false;
      const start = performance.now();
      const work = Promise.all([...passes, ...samples]).finally(() => (done = true));
      let slowest = 0;
      while (!done) {
        const began = performance.now();
        await client.ok('session_heartbeat', { session_id: session });
        slowest = Math.max(slowest, performance.now() - began);
      }
      expect(await work).toHaveLength(4 + 256);
      // The SDK gives a heartbeat ten seconds; a thread that computed would not have come to it for most of the work. Where
      // other programs hold the processors, everything is slow alike, so a share of the whole is allowed.
      expect(slowest).toBeLessThan(Math.max(5_000, (performance.now() - start) / 3));
    } finally {
      await server.stop();
    }
  },
  TIMEOUT,
);

test(
  'wrong usage is one line and exit code 2; help has examples',
  async () => {
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', 'serve', ...args], { cwd: ROOT });
    await expect(run('--host', '0.0.0.0', '--port', '0')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/could train and sample here. Set a key/) as string,
    });
    await expect(run('--model', '/no/such/model')).rejects.toMatchObject({ code: 2 });
    const { stdout } = await run('--help');
    expect(stdout).toContain('$ npm run tabwright -- serve --model nano');
    expect(stdout).toContain('--model-name');
  },
  TIMEOUT,
);

test('aliases are of the first model, or of the one that they name', () => {
  expect([...readAliases(['a', 'b'], 'x, y=b,z=a')]).toEqual([
    ['a', ['x', 'z']],
    ['b', ['y']],
  ]);
  expect(() => readAliases(['a'], 'x=c')).toThrow(/c is not among the models/);
});

test.skipIf(process.platform !== 'linux')(
  'a server whose engine is killed ends with code 1 and says why',
  async () => {
    const server = await serve(elsewhere(commands[0]));
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ');
    const engine = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engine-process'))!;
    process.kill(Number(engine), 'SIGKILL');
    const { code, stderr } = await server.ended();
    expect([code, stderr]).toEqual([1, expect.stringMatching(/engine of nano has ended/)]);
  },
  TIMEOUT,
);
