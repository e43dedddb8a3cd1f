// Where a step on a real model goes: operators of a decoding step or a LoRA step by the runtime's profiler, and the bare products
// of a decoding step by themselves, which are its floor. Run by hand, on a quiet machine.
// Usage: npx tsx bench/step-profile.ts <model folder> [--batch 16] | [--train 4x512]

import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Datum } from '../src/core/index.ts';
import { Graph, type Value } from '../src/engine/graph.ts';
import { EmbeddedBackend, loadPretrained, openModelFolder } from '../src/engine/index.ts';
import { PRODUCTS } from '../src/engine/packed-step.ts';
import { Session } from '../src/engine/session.ts';
import { stepWeights } from '../src/engine/step-weights.ts';

type Compiled = { endProfiling(): void };
type Runtime = { InferenceSession: { create(model: unknown, options: object): Promise<Compiled> } };
type Event = {
  readonly cat: string;
  readonly name: string;
  readonly dur: number;
  readonly args: { readonly op_name: string };
};

const THREADS = 2;
const PROMPT = 256;
const TOKENS = 64;
const GROUP = 8;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { batch: { type: 'string', default: '16' }, train: { type: 'string' } },
});
const [folder] = positionals;
if (!folder) throw new Error('Usage: npx tsx bench/step-profile.ts <model folder> [--batch 16] | [--train 4x512]');

const source = await openModelFolder(folder);
const { config, weights } = await loadPretrained(source);
await source.close();
if (values.train === undefined) await bareProducts(Number(values.batch));

// Sessions are made by the engine; the profiler is an option of theirs that it has no use for.
const runtime = createRequire(import.meta.url)('onnxruntime-node') as Runtime;
const create = runtime.InferenceSession.create.bind(runtime.InferenceSession);
const sessions: Compiled[] = [];
const traces = await mkdtemp(join(tmpdir(), 'tabwright-profile-'));
runtime.InferenceSession.create = async (model, options) => {
  const profileFilePrefix = join(traces, `${sessions.length}-`);
  const session = await create(model, { ...options, enableProfiling: true, profileFilePrefix });
  sessions.push(session);
  return session;
};
try {
  if (values.train === undefined) await decode(Number(values.batch));
  else await train(values.train.split('x').map(Number));
} finally {
  await rm(traces, { recursive: true, force: true });
}

/** The products of a step with constants as the step has them, and nothing else. */
async function bareProducts(batch: number): Promise<void> {
  const g = new Graph();
  const own = stepWeights(weights, 'f32');
  const inputs = new Map<number, Value>();
  const sums: Value[] = [];
  const names = Array.from({ length: config.layers }, (_, layer) =>
    Object.values(PRODUCTS).map((parts) => parts.map((part) => `${layer}.${part}`)),
  ).flat();
  for (const part of [...names, [config.tieEmbeddings ? 'embed' : 'head']]) {
    const width = own.shape(part)[1];
    const x = inputs.get(width) ?? g.input(`x.${width}`, 'float32', [batch, width]);
    inputs.set(width, x);
    // One number of each: handing the products out would be timed too.
    const [from, to] = [g.constant('int64', [2], [0, 0]), g.constant('int64', [2], [1, 1])];
    sums.push(g.node1('Slice', [own.product(g, x, part), from, to], { type: 'float32', shape: [1, 1] }));
  }
  g.output('sum', g.node1('Sum', sums, { type: 'float32', shape: [1, 1] }));
  const session = await Session.compile(g, { threads: THREADS }, own.bytes());
  const data = (width: number): Float32Array => Float32Array.from({ length: batch * width }, (_, i) => Math.sin(i));
  const feeds = Object.fromEntries(
    [...inputs.keys()].map((width) => [`x.${width}`, { data: data(width), shape: [batch, width] }]),
  );
  const times: number[] = [];
  for (let i = 0; i < 23; i++) {
    const start = performance.now();
    await session.run(feeds);
    times.push(performance.now() - start);
  }
  await session.release();
  const sorted = times.slice(3).sort((a, b) => a - b);
  console.log(
    `bare products of a step at batch ${batch}: median ${sorted[10].toFixed(1)} ms, best ${sorted[0].toFixed(1)} ms`,
  );
}

async function decode(batch: number): Promise<void> {
  await using backend = new EmbeddedBackend({
    modelName: folder,
    config,
    weights,
    threads: THREADS,
    maxPrefixFloats: 0,
  });
  const sampler = await backend.openSampler();
  const params = { maxTokens: 1 + TOKENS, temperature: 0 };
  const numSamples = Math.min(GROUP, batch);
  const call = (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: Math.ceil(batch / GROUP) }, (_, b) =>
        sampler.sample({ prompt: line(b, PROMPT), numSamples, params }),
      ),
    );
  await call();
  await report(`decoding step at batch ${batch}`, TOKENS);
}

async function train([batch, time]: readonly number[]): Promise<void> {
  await using backend = new EmbeddedBackend({
    modelName: folder,
    config,
    weights,
    threads: THREADS,
    scored: 'weighted',
  });
  const trainer = await backend.createTrainer({ lora: { rank: 16, trainUnembed: false } });
  const data = Array.from({ length: batch }, (_, b): Datum => {
    const tokens = line(b, time + 1);
    const targetTokens = tokens.slice(1);
    const weightOf = (t: number): number => (t >= Math.floor((time * 3) / 4) ? 1 / 512 : 0);
    return {
      tokens: tokens.slice(0, -1),
      lossInputs: { targetTokens, weights: targetTokens.map((_, t) => weightOf(t)) },
    };
  });
  await trainer.forwardBackward(data, 'cross_entropy');
  await report(`LoRA step ${batch} x ${time}`, 1);
}

function line(b: number, length: number): number[] {
  return Array.from({ length }, (_, t) => ((b * 104729 + t * 7919) % (config.vocabSize - 10)) + 3);
}

/** Operators of all graphs that ran; of a decoding step those of the graph of steps alone, which is the last one made. */
async function report(what: string, steps: number): Promise<void> {
  for (const session of sessions) session.endProfiling();
  const files = (await readdir(traces)).sort((a, b) => parseInt(a) - parseInt(b));
  const chosen = values.train === undefined ? files.slice(-1) : files;
  const totals = new Map<string, { calls: number; ms: number }>();
  let all = 0;
  let runs = 0;
  for (const file of chosen) {
    const events = JSON.parse(await readFile(join(traces, file), 'utf8')) as Event[];
    for (const { cat, name, dur, args } of events) {
      if (name === 'model_run') runs += dur / 1000 / steps;
      if (cat !== 'Node' || !name.endsWith('_kernel_time')) continue;
      const total = totals.get(args.op_name) ?? { calls: 0, ms: 0 };
      totals.set(args.op_name, { calls: total.calls + 1 / steps, ms: total.ms + dur / 1000 / steps });
      all += dur / 1000 / steps;
    }
  }
  console.log(`${what}: ${runs.toFixed(1)} ms in the runtime, of which operators ${all.toFixed(1)}`);
  console.log('| operator | calls | ms a step | share |\n| --- | --- | --- | --- |');
  for (const [name, { calls, ms }] of [...totals].sort(([, a], [, b]) => b.ms - a.ms).slice(0, 16))
    console.log(`| ${name} | ${calls.toFixed(0)} | ${ms.toFixed(2)} | ${((100 * ms) / all).toFixed(1)} % |`);
}
