// Decoding one sequence with 4-bit weights here and in llama.cpp, on the same GGUF file, in turns: tokens a second, and what
// that takes of the processor. Needs the oracles (npx tsx conformance/models/prepare.ts). Run by hand, on a quiet machine.
// Usage: npx tsx bench/llama-speed.ts [file.gguf] [--rounds 5] [--threads 2]

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SCRIPTS, SMOLLM2_GGUF } from '../conformance/models/places.ts';
import { findPretrained, openPretrained } from '../src/cli/open-pretrained.ts';
import { EmbeddedBackend } from '../src/engine/index.ts';

type Timing = { readonly seconds: number; readonly cpuSeconds: number };

const PROMPT = 64;
const TOKENS = 128;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, threads: { type: 'string', default: '2' } },
});
const [file = SMOLLM2_GGUF] = positionals;
const threads = Number(values.threads);
const files = await findPretrained(`gguf:${file}`, {});
if (files === undefined) throw new Error(`${file} is no model.`);
const { config, weights } = await openPretrained(files, {});
// No token of it ends a text.
const prompt = Array.from({ length: PROMPT }, (_, t) => ((t * 7919) % (config.vocabSize - 1000)) + 500);

const child = spawn(process.execPath, [join(SCRIPTS, 'llama-speed.mjs'), file, String(threads)], {
  stdio: ['pipe', 'pipe', 'inherit'],
  cwd: SCRIPTS,
});
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const peer = async (): Promise<Timing> => {
  child.stdin.write(`${JSON.stringify({ prompt, tokens: TOKENS })}\n`);
  const line = await lines.next();
  if (line.done === true) throw new Error('llama.cpp ended without an answer.');
  return JSON.parse(line.value) as Timing;
};

await using backend = new EmbeddedBackend({ modelName: file, config, weights, threads, decodeWeights: 'q4' });
const sampler = await backend.openSampler();
const timed = async (maxTokens: number): Promise<Timing> => {
  const [start, used] = [performance.now(), process.cpuUsage()];
  const [sequence] = await sampler.sample({ prompt, numSamples: 1, params: { maxTokens, temperature: 0 } });
  if (sequence.tokens.length !== maxTokens) throw new Error('The text ended before its length.');
  const { user, system } = process.cpuUsage(used);
  return { seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6 };
};
/** Of the tokens after the first: the prompt, of which one call is the whole, is not decoded. */
const here = async (): Promise<Timing> => {
  const [one, all] = [await timed(1), await timed(1 + TOKENS)];
  return { seconds: all.seconds - one.seconds, cpuSeconds: all.cpuSeconds - one.cpuSeconds };
};

const [mine, theirs]: [Timing[], Timing[]] = [[], []];
console.log(`load ${loadavg()[0].toFixed(2)}, ${threads} threads, prompt ${PROMPT}, ${TOKENS} tokens a turn`);
for (let i = 0; i <= Number(values.rounds); i++) {
  const turn = [await here(), await peer()];
  if (i === 0) continue; // the first of each warms up
  mine.push(turn[0]);
  theirs.push(turn[1]);
}
child.stdin.end();
const median = (times: readonly Timing[], key: keyof Timing): number =>
  times.map((time) => time[key]).sort((a, b) => a - b)[times.length >> 1];
for (const [name, times] of [
  ['here, q4', mine],
  ['llama.cpp', theirs],
] as const) {
  const rates = times.map(({ seconds }) => (TOKENS / seconds).toFixed(1));
  console.log(
    `${name.padEnd(10)} ${(TOKENS / median(times, 'seconds')).toFixed(1)} tokens/s (${rates.join(', ')}), processor ${((1000 * median(times, 'cpuSeconds')) / TOKENS).toFixed(1)} ms a token`,
  );
}
console.log(
  `${(median(theirs, 'seconds') / median(mine, 'seconds')).toFixed(2)} of its speed, ${(median(theirs, 'cpuSeconds') / median(mine, 'cpuSeconds')).toFixed(2)} by processor time; load ${loadavg()[0].toFixed(2)}`,
);
