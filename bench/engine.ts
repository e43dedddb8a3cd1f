// What the embedded engine reaches: training and decoding rates of the shipped model, and the machine's own fp32
// matrix-product rate measured in the same process before and after. Not a test.
// Usage: npx tsx bench/engine.ts

import { cpus, loadavg } from 'node:os';
import { pathToFileURL } from 'node:url';
import {
  EmbeddedSampler,
  EmbeddedTrainer,
  loadModel,
  measureMatmulRate,
  SamplerRuntime,
  type ModelConfig,
} from '../src/engine/index.ts';
import { packMicroBatches } from '../src/engine/packing.ts';
import { DEFAULT_TOKEN_BUDGET } from '../src/engine/trainer.ts';
import { NANO_PATH } from '../src/cli/models.ts';
import { createLesson } from '../src/envs/index.ts';
import { createNanoRenderer, nanoReply } from '../src/tokens/index.ts';
import type { Datum } from '../src/core/index.ts';

export type EngineBench = {
  /** fp32 1024 x 1024 x 1024 product, GFLOP/s, before and after the rest. */
  readonly matmulGflops: readonly [number, number];
  /** Full-parameter training steps of about 8,192 tokens, forward, backward and Adam. */
  readonly training: {
    readonly tokensPerSecond: number;
    readonly paddedTokensPerSecond: number;
    readonly gflops: number;
    readonly shareOfMatmul: number;
  };
  /** New tokens per second by batch size, prompts of 64 tokens already read. */
  readonly decoding: Readonly<Record<string, number>>;
  readonly loadAverage: number;
  readonly cpuSecondsPerSecond: number;
};

const TRAINING_TOKENS = 8192;
const TRAINING_STEPS = 8;
const DECODE_TOKENS = 64;
const MIX = { click: 1, 'is-checked': 0, 'which-of': 1, 'select-then': 1 };

export async function benchEngine(): Promise<EngineBench> {
  const loadAverage = loadavg()[0];
  const { config, weights } = await loadModel(NANO_PATH);
  const before = await measureMatmulRate();
  const wall = performance.now();
  const cpu = process.cpuUsage();
  const training = await benchTraining(
    config,
    new EmbeddedTrainer({ config, weights: weights.clone(), scored: 'weighted' }),
  );
  await using runtime = new SamplerRuntime(config);
  await using sampler = EmbeddedSampler.of(runtime, weights, 0);
  const decoding: Record<string, number> = {};
  for (const batch of [1, 8, 32]) decoding[batch] = await benchDecoding(sampler, batch);
  const used = process.cpuUsage(cpu);
  const cpuSecondsPerSecond = (used.user + used.system) / 1e3 / (performance.now() - wall);
  const after = await measureMatmulRate();
  const shareOfMatmul = training.gflops / ((before + after) / 2);
  return {
    matmulGflops: [before, after],
    training: { ...training, shareOfMatmul },
    decoding,
    loadAverage,
    cpuSecondsPerSecond,
  };
}

async function benchTraining(
  config: ModelConfig,
  trainer: EmbeddedTrainer,
): Promise<Omit<EngineBench['training'], 'shareOfMatmul'>> {
  const data: Datum[] = [];
  let tokens = 0;
  const renderer = createNanoRenderer();
  for (let seed = 0; tokens < TRAINING_TOKENS; seed++) {
    const { instruction, page, answer } = createLesson(seed, MIX);
    const prompt = renderer.render({ instruction, tools: [], past: [], observation: { page } });
    const all = [...prompt, ...nanoReply(answer)];
    data.push({
      tokens: all.slice(0, -1),
      lossInputs: {
        targetTokens: all.slice(1),
        weights: all.slice(1).map((_, t) => (t + 1 >= prompt.length ? 1 / TRAINING_TOKENS : 0)),
      },
    });
    tokens += all.length - 1;
  }
  const step = async (): Promise<void> => {
    await trainer.forwardBackward(data, 'cross_entropy');
    await trainer.optimStep({ learningRate: 1e-6 });
  };
  await step();
  await step();
  const times: number[] = [];
  for (let i = 0; i < TRAINING_STEPS; i++) {
    const start = performance.now();
    await step();
    times.push((performance.now() - start) / 1000);
  }
  await trainer[Symbol.asyncDispose]();
  const seconds = times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
  const flops = data.reduce(
    (sum, { tokens: row, lossInputs }) =>
      sum + rowFlops(config, row.length, lossInputs.weights!.filter((w) => w !== 0).length),
    0,
  );
  // Padding is work that counts for nothing in the FLOP rate.
  const padded = packMicroBatches(data, {
    loss: 'cross_entropy',
    scored: 'weighted',
    tokenBudget: DEFAULT_TOKEN_BUDGET,
    vocabSize: config.vocabSize,
    maxPositions: config.maxPositions,
  }).reduce((sum, { batch, time }) => sum + batch * time, 0);
  return { tokensPerSecond: tokens / seconds, paddedTokensPerSecond: padded / seconds, gflops: flops / seconds / 1e9 };
}

/**
 * Floating-point operations of one row, forward and backward: matrices of the real tokens, causal half of attention. What
 * follows the last layer's attention, the head included, is computed for scored tokens alone and counted for those.
 */
function rowFlops(
  { layers, hiddenSize, heads, kvHeads, headDim, intermediateSize, vocabSize }: ModelConfig,
  length: number,
  scored: number,
): number {
  const before = hiddenSize * (heads + 2 * kvHeads) * headDim;
  const after = heads * headDim * hiddenSize + 3 * hiddenSize * intermediateSize;
  const matrices = length * (layers * before + (layers - 1) * after) + scored * (after + hiddenSize * vocabSize);
  const attention = layers * 2 * heads * headDim * ((length * (length + 1)) / 2);
  return 3 * 2 * (matrices + attention);
}

async function benchDecoding(sampler: EmbeddedSampler, batch: number): Promise<number> {
  const prompts = Array.from({ length: batch }, (_, i) =>
    Array.from({ length: 64 }, (_, t) => 65 + ((i * 7 + t * 3) % 26)),
  );
  const call = async (maxTokens: number): Promise<number> => {
    const start = performance.now();
    await Promise.all(
      prompts.map((prompt, i) => sampler.sample({ prompt, numSamples: 1, params: { maxTokens, seed: i } })),
    );
    return (performance.now() - start) / 1000;
  };
  await call(DECODE_TOKENS);
  const rates: number[] = [];
  for (let i = 0; i < 5; i++) {
    const prompt = await call(1);
    const whole = await call(1 + DECODE_TOKENS);
    rates.push((batch * DECODE_TOKENS) / (whole - prompt));
  }
  return rates.sort((a, b) => a - b)[2];
}

export function describeEngine({
  matmulGflops,
  training,
  decoding,
  loadAverage,
  cpuSecondsPerSecond,
}: EngineBench): string {
  const round = (value: number): string => value.toFixed(value < 10 ? 2 : 0);
  return [
    `processor            ${cpus()[0].model.trim()}, ${cpus().length} cores, load ${loadAverage.toFixed(2)} before, ${cpuSecondsPerSecond.toFixed(2)} cores used`,
    `fp32 matrix product  ${round(matmulGflops[0])} GFLOP/s before, ${round(matmulGflops[1])} after`,
    `training             ${round(training.tokensPerSecond)} tokens/s (${round(training.paddedTokensPerSecond)} padded), ${round(training.gflops)} GFLOP/s, ${training.shareOfMatmul.toFixed(2)} of the matrix product`,
    ...Object.entries(decoding).map(([batch, rate]) => `decoding, batch ${batch.padEnd(4)} ${round(rate)} tokens/s`),
  ].join('\n');
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  console.log(describeEngine(await benchEngine()));
