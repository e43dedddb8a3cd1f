// A real model of 135 million weights on the embedded engine: LoRA steps of 2,048 tokens, generation and decoding, beside
// PyTorch in the same minutes (A-B-A-B) and beside the machine's own matrix product and memory bandwidth. Not a test.
// Usage: npx tsx bench/models.ts <model folder or GGUF file> [--python <python with torch, transformers, peft>] [--rounds 3]
//   [--only train|generate] [--shape 4x512] [--decode-weights q4] [--bf16]   PyTorch reads folders alone; its steps in bf16 are
//   shown beside where the processor has units for that, or with --bf16 anywhere

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  DECODE_WEIGHTS,
  EmbeddedBackend,
  loadPretrained,
  measureMatmulRate,
  openGguf,
  openModelFolder,
} from '../src/engine/index.ts';
import { Graph } from '../src/engine/graph.ts';
import { Session } from '../src/engine/session.ts';
import type { ModelConfig } from '../src/engine/model-config.ts';
import type { Datum, Sampler } from '../src/core/index.ts';

const RANK = 16;
const SHAPES = [
  [16, 128],
  [4, 512],
  [1, 2048],
] as const;
/** Sequences, group size, prompt and new tokens of the generation that is compared. */
const GENERATION = { prompts: 2, group: 8, prompt: 256, fresh: 64 } as const;
const BANDWIDTH_FLOATS = 2 ** 27;

type Timing = { readonly seconds: number; readonly cpu: number };
type Answer = Timing & { readonly result: unknown };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    shape: { type: 'string' },
    'decode-weights': { type: 'string', default: 'f32' },
    bf16: { type: 'boolean', default: false },
  },
});
const [folder] = positionals;
if (!folder)
  throw new Error(
    'Usage: npx tsx bench/models.ts <model folder or GGUF file> [--python <python>] [--rounds 3] [--only train|generate] [--shape 4x512] [--decode-weights q4] [--bf16]',
  );
const rounds = Number(values.rounds);
const source = folder.endsWith('.gguf') ? (await openGguf(folder)).source : await openModelFolder(folder);
const { config, weights } = await loadPretrained(source);
await source.close();
const threads = 2;
const peer = values.python === undefined ? undefined : startPeer(values.python, folder);
const load = loadavg()[0];
const before = await measureMatmulRate({ threads });
console.log(`load ${load.toFixed(2)}, ${threads} threads, fp32 matrix product ${before.toFixed(0)} GFLOP/s before`);

if (values.only !== 'generate') {
  await using backend = new EmbeddedBackend({ modelName: folder, config, weights, threads, scored: 'weighted' });
  const trainer = await backend.createTrainer({ lora: { rank: RANK, trainUnembed: false } });
  const shows16 = peer && (values.bf16 || (await peer.ask('has_bf16_units', [])).result === true);
  let [product, others] = [before, Infinity];
  for (const [batch, time] of SHAPES) {
    if (values.shape !== undefined && values.shape !== `${batch}x${time}`) continue;
    const data = lessons(batch, time, config.vocabSize);
    const flops = stepFlops(config, batch, time, time - Math.floor((time * 3) / 4));
    const own = (): Promise<Timing> =>
      timed(async () => {
        await trainer.forwardBackward(data, 'cross_entropy');
        await trainer.optimStep({ learningRate: 1e-5 });
      });
    const theirs = (what: string) => peer && ((): Promise<Timing> => peer.ask(what, [batch, time]));
    const [mine, whole, half] = await alternate(own, theirs('train'), shows16 ? theirs('train_bf16') : undefined);
    [others, product] = [product, await measureMatmulRate({ threads })];
    const rate = flops / median(mine) / 1e9;
    // The host changes its speed: of the greater of the products before and after, so that no share is told too high.
    const most = Math.max(product, others);
    report(`LoRA step ${batch} x ${time}`, mine, whole, [
      `${rate.toFixed(0)} GFLOP/s, ${(rate / most).toFixed(2)} of the matrix product (${others.toFixed(0)} before, ${product.toFixed(0)} after)`,
      `peak ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`,
    ]);
    if (half.length > 0) compare('PyTorch in bf16', mine, half);
  }
}
if (values.only !== 'train') {
  const decodeWeights = DECODE_WEIGHTS.find((kind) => kind === values['decode-weights']);
  if (!decodeWeights) throw new Error(`--decode-weights is one of ${DECODE_WEIGHTS.join(', ')}.`);
  await using backend = new EmbeddedBackend({
    modelName: folder,
    config,
    weights,
    threads,
    maxPrefixFloats: 0,
    decodeWeights,
  });
  const sampler = await backend.openSampler();
  const { prompts, group, prompt, fresh } = GENERATION;
  const bandwidth = await measureBandwidth();
  const bound = (4 * weights.flat.length) / bandwidth;
  console.log(
    `memory ${(bandwidth / 1e9).toFixed(1)} GB/s, so reading the weights takes ${(1000 * bound).toFixed(1)} ms`,
  );
  const call = (count: number, size: number, tokens: number): Promise<Timing> =>
    timed(() => generate(sampler, { count, size, prompt, tokens, vocabSize: config.vocabSize }));
  const [mine, theirs] = await alternate(
    () => call(prompts, group, fresh),
    peer && ((): Promise<Timing> => peer.ask('generate', [prompts, group, prompt, fresh])),
  );
  report(`Generation, ${prompts} x ${group} sequences, prompt ${prompt}, new ${fresh}`, mine, theirs, []);
  for (const [count, size] of [
    [2, 8],
    [1, 1],
  ] as const) {
    const steps: Timing[] = [];
    for (let i = 0; i < rounds + 1; i++) {
      const short = await call(count, size, 1);
      const long = await call(count, size, 1 + fresh);
      steps.push({ seconds: (long.seconds - short.seconds) / fresh, cpu: (long.cpu - short.cpu) / fresh });
    }
    const step = median(steps.slice(1));
    report(
      `Decoding step at batch ${count * size}`,
      steps.slice(1),
      [],
      [
        `${(bound / step).toFixed(2)} of what reading the weights in fp32 allows, ${((count * size) / step).toFixed(1)} tokens/s`,
      ],
    );
  }
}
const after = await measureMatmulRate({ threads });
console.log(`load ${loadavg()[0].toFixed(2)}, fp32 matrix product ${after.toFixed(0)} GFLOP/s after`);
peer?.end();

/** Each of these in turn, in rounds; none where there is none. */
async function alternate(...sides: readonly ((() => Promise<Timing>) | undefined)[]): Promise<Timing[][]> {
  const times = sides.map((): Timing[] => []);
  for (let i = 0; i < rounds + 1; i++) for (const [at, side] of sides.entries()) if (side) times[at].push(await side());
  // The first of each warms up.
  return times.map((each) => each.slice(1));
}

function report(what: string, mine: readonly Timing[], theirs: readonly Timing[], notes: readonly string[]): void {
  console.log([what, side('here', mine), ...notes].join('  '));
  if (theirs.length > 0) compare('PyTorch', mine, theirs);
}

function side(name: string, times: readonly Timing[]): string {
  const best = Math.min(...times.map(({ seconds }) => seconds));
  return `${name} ${median(times).toFixed(3)} s (best ${best.toFixed(3)}, processor ${median(times, 'cpu').toFixed(2)} s)`;
}

function compare(name: string, mine: readonly Timing[], theirs: readonly Timing[]): void {
  const speed = (key: 'seconds' | 'cpu'): string => (median(theirs, key) / median(mine, key)).toFixed(2);
  const best = Math.min(...theirs.map((t) => t.seconds)) / Math.min(...mine.map((t) => t.seconds));
  console.log(
    `  ${side(name, theirs)}  ${speed('seconds')} times its speed (best against best ${best.toFixed(2)}), ${speed('cpu')} by processor time`,
  );
}

function median(times: readonly Timing[], key: 'seconds' | 'cpu' = 'seconds'): number {
  return times.map((time) => time[key]).sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

async function timed(work: () => Promise<unknown>): Promise<Timing> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return { seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 };
}

/** Rows whose last quarter is scored. */
function lessons(batch: number, time: number, vocabSize: number): Datum[] {
  return Array.from({ length: batch }, (_, b) => {
    const tokens = line(b, time + 1, vocabSize);
    const targetTokens = tokens.slice(1);
    const weightOf = (t: number): number => (t >= Math.floor((time * 3) / 4) ? 1 / 512 : 0);
    return {
      tokens: tokens.slice(0, -1),
      lossInputs: { targetTokens, weights: targetTokens.map((_, t) => weightOf(t)) },
    };
  });
}

function line(b: number, length: number, vocabSize: number): number[] {
  return Array.from({ length }, (_, t) => ((b * 104729 + t * 7919) % (vocabSize - 10)) + 3);
}

type Generation = {
  readonly count: number;
  readonly size: number;
  readonly prompt: number;
  readonly tokens: number;
  readonly vocabSize: number;
};

function generate(sampler: Sampler, { count, size, prompt, tokens, vocabSize }: Generation): Promise<unknown> {
  return Promise.all(
    Array.from({ length: count }, (_, b) =>
      sampler.sample({
        prompt: line(b, prompt, vocabSize),
        numSamples: size,
        params: { maxTokens: tokens, temperature: 0 },
      }),
    ),
  );
}

/**
 * Operations of a LoRA step: forward, and the same again for the gradients of activations (attention twice), matrices and
 * head, the causal half of attention; adapters forth, back and for their own gradients.
 */
function stepFlops(model: ModelConfig, batch: number, time: number, scored: number): number {
  const { layers, hiddenSize, heads, kvHeads, headDim, intermediateSize, vocabSize } = model;
  const shapes = [
    [heads * headDim, hiddenSize],
    [kvHeads * headDim, hiddenSize],
    [kvHeads * headDim, hiddenSize],
    [hiddenSize, heads * headDim],
    [intermediateSize, hiddenSize],
    [intermediateSize, hiddenSize],
    [hiddenSize, intermediateSize],
  ] as const;
  const matrices = layers * shapes.reduce((sum, [out, width]) => sum + out * width, 0);
  const adapters = layers * shapes.reduce((sum, [out, width]) => sum + RANK * (out + width), 0);
  const attention = layers * 2 * heads * headDim * ((time * (time + 1)) / 2);
  return batch * 2 * (time * (2 * matrices + 3 * adapters) + 2 * scored * vocabSize * hiddenSize + 3 * attention);
}

/** Bytes a second of a sum over 512 MB, in threads. */
async function measureBandwidth(): Promise<number> {
  const g = new Graph();
  const rows = 2 ** 10;
  const x = g.input('x', 'float32', [rows, BANDWIDTH_FLOATS / rows]);
  const axes = g.constant('int64', [1], [1]);
  g.output('sum', g.node1('ReduceSum', [x, axes], { type: 'float32', shape: [rows, 1] }));
  const session = await Session.compile(g, { threads });
  const data = new Float32Array(BANDWIDTH_FLOATS).fill(1);
  const times: Timing[] = [];
  for (let i = 0; i < 6; i++)
    times.push(await timed(() => session.run({ x: { data, shape: [rows, BANDWIDTH_FLOATS / rows] } })));
  await session.release();
  return (4 * BANDWIDTH_FLOATS) / median(times.slice(1));
}

function startPeer(
  python: string,
  model: string,
): { ask(what: string, sizes: number[]): Promise<Answer>; end(): void } {
  const script = fileURLToPath(new URL('models-peer.py', import.meta.url));
  const child = spawn(python, [script, model, String(threads)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  return {
    async ask(what, sizes) {
      child.stdin.write(`${JSON.stringify({ what, sizes })}\n`);
      const [answer] = (await once(lines, 'line', { signal: AbortSignal.timeout(600_000) })) as [string];
      return JSON.parse(answer) as Answer;
    },
    end: () => void child.stdin.end(),
  };
}
