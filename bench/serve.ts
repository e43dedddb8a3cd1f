// What `tabwright serve` costs over the engine in this process: training steps and samples alternately here and over
// loopback, many samples at once, the server's memory. Run by hand: node --import tsx bench/serve.ts [program ...]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { EmbeddedBackend, loadModel } from '../src/engine/index.ts';
import { crossEntropy, RawClient, sampleBody, supervised } from '../tests/servers/tinker-client.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ROUNDS = 15;
/** Servers under test: the sources, or programs of builds, e.g. `dist/cli/main.js`, measured in turn. */
const entries = process.argv.length > 2 ? process.argv.slice(2) : ['src/cli/main.ts'];

/** Resident memory of a process, and its share of what it shares with others, in MB. */
type Memory = { readonly resident: number; readonly share: number };

async function memoryOf(pid: number): Promise<Memory> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)![1]) / 1024;
  return { resident: field('Rss'), share: field('Pss') };
}

async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')));
  return lists.flatMap((text) => text.trim().split(' ').filter(Boolean).map(Number));
}

/** Seconds of processor time that a process has used; Linux counts a hundred ticks a second. */
async function cpuOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function serve(entry: string) {
  const folder = await mkdtemp(join(tmpdir(), 'tabwright-bench-serve-'));
  const loader = entry.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const args = [...loader, entry, 'serve', '--json', '--port', '0', '--checkpoints', folder];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const client = new RawClient((JSON.parse(line) as { url: string }).url);
  const pids = [child.pid!, (await childrenOf(child.pid!))[0]] as const;
  const memory = await Promise.all(pids.map(memoryOf));
  const session = await client.session();
  const model = await client.model(session, { base_model: 'nano', lora_config: { rank: 16 } });
  const body = { session_id: session, sampling_session_seq_id: 0, base_model: 'nano' };
  const remote = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;
  let seqId = 0;
  let sampleId = 0;
  return {
    entry,
    memory,
    cpu: async () => Promise.all(pids.map(cpuOf)),
    train: async (): Promise<void> => {
      const pass = await client.pass(crossEntropy(model, ++seqId, rows));
      const step = await client.submit('optim_step', { model_id: model, seq_id: ++seqId, adam_params: {} });
      await client.output(pass);
      await client.result(step);
    },
    sample: (count: number) =>
      Promise.all(
        Array.from({ length: count }, async (_, seed) => {
          const asked = sampleBody(remote, sampleId++, {
            prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
            sampling_params: { max_tokens: 64, seed, stop: [] },
          });
          return client.samples(await client.submit('asample', asked));
        }),
      ),
    stop: async (): Promise<void> => {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const { config, weights } = await loadModel(join(ROOT, 'assets/nano'));
await using backend = new EmbeddedBackend({ modelName: 'nano', config, weights });
await using trainer = await backend.createTrainer({ lora: { rank: 16 } });
await using sampler = await backend.openSampler();
const rows = Array.from({ length: 16 }, (_, i) =>
  supervised(Array.from({ length: 129 }, (_, t) => 65 + ((i + t) % 26))),
);
const data = rows.map(({ modelInput, lossInputs }) => ({
  tokens: [...(modelInput[0] as { tokens: Int32Array }).tokens],
  lossInputs: {
    targetTokens: [...lossInputs['target_tokens'].values],
    weights: [...lossInputs['weights'].values],
  },
}));
const prompt = Array.from({ length: 128 }, (_, i) => 65 + (i % 26));
const servers: Awaited<ReturnType<typeof serve>>[] = [];
for (const entry of entries) servers.push(await serve(entry));

const work: Record<string, () => Promise<unknown>> = {
  'train here': async () => {
    await trainer.forwardBackward(data, 'cross_entropy');
    await trainer.optimStep({ learningRate: 1e-4 });
  },
  ...Object.fromEntries(servers.map(({ entry, train }) => [`train ${entry}`, train])),
  'sample here': () =>
    Promise.all(
      Array.from({ length: 16 }, (_, seed) =>
        sampler.sample({ prompt, numSamples: 1, params: { maxTokens: 64, seed, stop: [] } }),
      ),
    ),
  ...Object.fromEntries(servers.map(({ entry, sample }) => [`sample ${entry}`, () => sample(16)])),
};

const write = (line: string): void => void process.stdout.write(`${line}\n`);
const load = (): string =>
  loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
write(`load average before ${load()}`);
const times: Record<string, number[]> = {};
for (let round = -1; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(work)) {
    const began = performance.now();
    await run();
    if (round >= 0) (times[name] ??= []).push(performance.now() - began);
  }
}
const median = (name: string): number => [...times[name]].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
for (const name of Object.keys(work)) {
  write(`${name}: ${median(name).toFixed(1)} ms (${times[name].map((ms) => ms.toFixed(0)).join(' ')})`);
}
for (const { entry, sample, memory, cpu, stop } of servers) {
  const over = (kind: string): string =>
    `${((median(`${kind} ${entry}`) / median(`${kind} here`) - 1) * 100).toFixed(1)} %`;
  write(`${entry}: overhead of training ${over('train')}, of sampling ${over('sample')}`);
  const before = await cpu();
  const began = performance.now();
  await sample(256);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const [server, engine] = (await cpu()).map((used, i) => (used - before[i]).toFixed(1));
  write(`  256 samples of 64 tokens at once: ${seconds} s; processor: server ${server} s, engine ${engine} s`);
  const [idle, behind] = memory.map(
    ({ resident, share }) => `${resident.toFixed(0)} MB (share ${share.toFixed(0)} MB)`,
  );
  write(`  idle: the process that serves ${idle}, that of the engine ${behind}`);
  await stop();
}
write(`load average after ${load()}`);
