// llama.cpp decoding one sequence of a GGUF file, for `bench/llama-speed.ts`. Reads lines { "prompt": [id], "tokens" } and answers
// each with { "seconds", "cpuSeconds" }: of the tokens after the first. node llama-speed.mjs <file.gguf> <threads>

import { createInterface } from 'node:readline';
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';

const [, , file, threads] = process.argv;
const llama = await getLlama({
  build: 'never',
  gpu: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: Number(threads),
});
const model = await llama.loadModel({ modelPath: file });
const context = await model.createContext({ contextSize: 512, threads: Number(threads) });
const sequence = context.getSequence();
for await (const line of createInterface({ input: process.stdin })) {
  const { prompt, tokens } = JSON.parse(line);
  await sequence.clearHistory();
  let [count, start, used] = [0, 0, { user: 0, system: 0 }];
  for await (const _ of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    if (count++ === 0) [start, used] = [performance.now(), process.cpuUsage()];
    if (count === tokens + 1) break;
  }
  const { user, system } = process.cpuUsage(used);
  process.stdout.write(
    `${JSON.stringify({ seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6 })}\n`,
  );
}
await llama.dispose();
