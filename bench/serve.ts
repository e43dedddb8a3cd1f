// What `tabwright serve` costs over the engine in this process: training steps and samples alternately here and over
// loopback, many samples at once, the server's memory. Run by hand: node --import tsx bench/serve.ts

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
const ROUNDS = 7;
const folder = await mkdtemp(join(tmpdir(), 'tabwright-bench-serve-'));
const child = spawn(
  process.execPath,
  ['--import', 'tsx', 'src/cli/main.ts', 'serve', '--json', '--port', '0', '--checkpoints', folder],
  { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
);
const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
const client = new RawClient((JSON.parse(line) as { url: string }).url);

const resident = async (pid: number): Promise<number> =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
const children = async (pid: number): Promise<number[]> => {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8')));
  return lists.flatMap((text) => text.trim().split(' ').filter(Boolean).map(Number));
};
const engines = await children(child.pid!);
const memory = { server: await resident(child.pid!), engine: await resident(engines[0]) };

const { config, weights } = await loadModel(join(ROOT, 'assets/nano'));
await using backend = new EmbeddedBackend({ modelName: 'nano', config, weights });
await using trainer = await backend.createTrainer({ lora: { rank: 16 } });
await using sampler = await backend.openSampler();
const session = await client.session();
const model = await client.model(session, { base_model: 'nano', lora_config: { rank: 16 } });
const body = { session_id: session, sampling_session_seq_id: 0, base_model: 'nano' };
const remote = (await client.ok('create_sampling_session', body))['sampling_session_id'] as string;

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
let seqId = 0;
let sampleId = 0;
const prompt = Array.from({ length: 128 }, (_, i) => 65 + (i % 26));
const asked = (seed: number) =>
  sampleBody(remote, sampleId++, {
    prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
    sampling_params: { max_tokens: 64, seed, stop: [] },
  });

const work = {
  'train here': async () => {
    await trainer.forwardBackward(data, 'cross_entropy');
    await trainer.optimStep({ learningRate: 1e-4 });
  },
  'train served': async () => {
    const pass = await client.pass(crossEntropy(model, ++seqId, rows));
    const step = await client.submit('optim_step', { model_id: model, seq_id: ++seqId, adam_params: {} });
    await client.output(pass);
    await client.result(step);
  },
  'sample here': () =>
    Promise.all(
      Array.from({ length: 16 }, (_, seed) =>
        sampler.sample({ prompt, numSamples: 1, params: { maxTokens: 64, seed, stop: [] } }),
      ),
    ),
  'sample served': () =>
    Promise.all(
      Array.from({ length: 16 }, async (_, seed) => client.samples(await client.submit('asample', asked(seed)))),
    ),
} as const;

const times: Record<string, number[]> = {};
for (let round = -1; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(work)) {
    const began = performance.now();
    await run();
    if (round >= 0) (times[name] ??= []).push(performance.now() - began);
  }
}
const began = performance.now();
await Promise.all(
  Array.from({ length: 256 }, async (_, seed) => client.samples(await client.submit('asample', asked(seed)))),
);
const many = performance.now() - began;

const median = (name: string): number => [...times[name]].sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
const over = (kind: string): string =>
  `${((median(`${kind} served`) / median(`${kind} here`) - 1) * 100).toFixed(1)} %`;
for (const name of Object.keys(work)) {
  process.stdout.write(
    `${name}: ${median(name).toFixed(1)} ms (${times[name].map((ms) => ms.toFixed(0)).join(' ')})\n`,
  );
}
process.stdout.write(`overhead of training ${over('train')}, of sampling ${over('sample')}\n`);
process.stdout.write(`256 samples of 64 tokens at once: ${(many / 1000).toFixed(1)} s\n`);
process.stdout.write(`memory: server ${memory.server.toFixed(0)} MB, engine ${memory.engine.toFixed(0)} MB idle\n`);
process.stdout.write(
  `load average ${loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')}\n`,
);
child.kill('SIGTERM');
await once(child, 'exit');
await rm(folder, { recursive: true, force: true });
