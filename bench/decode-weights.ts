// What decoding with rounded weights costs in accuracy and gains in speed, on a real model: the whole weights' greedy
// answers, followed by the rounded ones from the same tokens. Run by hand: npx tsx bench/decode-weights.ts hf:<folder> | gguf:<file>

import { loadavg } from 'node:os';
import type { Sampler, TopToken } from '../src/core/index.ts';
import { findPretrained, openPretrained } from '../src/cli/open-pretrained.ts';
import { DECODE_WEIGHTS, EmbeddedBackend, type DecodeWeights } from '../src/engine/index.ts';

const TOKENS = 64;
/** Tokens of which the divergence is summed; they hold nearly all of the probability. */
const TOP = 64;
const ASKED = [
  'What is the capital of France?',
  'Explain why the sky is blue to a child.',
  'Write a short poem about the sea.',
  'List three uses of a paper clip.',
  'What is 17 times 23? Show your work.',
  'Summarise the plot of Romeo and Juliet in two sentences.',
  'How do I boil an egg?',
  'Translate "good morning" into Spanish and German.',
  'What are the symptoms of a cold?',
  'Write a Python function that reverses a string.',
  'Why do cats purr?',
  'Name five rivers of Europe.',
  'What is photosynthesis?',
  'Give advice to somebody who cannot sleep.',
  'Describe a sunset over the mountains.',
  'What does a compiler do?',
];

const [name] = process.argv.slice(2);
const files = name === undefined ? undefined : await findPretrained(name);
if (files === undefined) throw new Error('Usage: npx tsx bench/decode-weights.ts hf:<folder> | gguf:<file>');
const { config, weights, tokenizer } = await openPretrained(files);
const prompts = ASKED.map((text) => tokenizer.encode(`Question: ${text}\nAnswer:`));
const open = (decodeWeights: DecodeWeights): EmbeddedBackend =>
  new EmbeddedBackend({ modelName: name, config, weights, threads: 2, execution: 'layers', decodeWeights });

type Answer = { readonly tokens: readonly number[]; readonly top: readonly (readonly TopToken[])[] };

async function greedy(sampler: Sampler, prompt: readonly number[], count: number): Promise<Answer> {
  const params = { maxTokens: count, temperature: 0, stop: [], topLogprobs: TOP };
  const [{ tokens, topLogprobs }] = await sampler.sample({ prompt, numSamples: 1, params });
  return { tokens, top: topLogprobs! };
}

/** Seconds a token at batch 1, and from the second token on. */
async function secondsPerToken(sampler: Sampler): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 4; round++) {
    const began = performance.now();
    await sampler.sample({ prompt: prompts[0], numSamples: 1, params: { maxTokens: 1, stop: [] } });
    const first = performance.now();
    await sampler.sample({ prompt: prompts[0], numSamples: 1, params: { maxTokens: 1 + TOKENS, stop: [] } });
    times.push((performance.now() - first - (first - began)) / TOKENS / 1000);
  }
  return times.slice(1).sort((a, b) => a - b)[1];
}

console.log(`${name}, ${prompts.length} prompts of ${TOKENS} tokens, load ${loadavg()[0].toFixed(2)}`);
const answers: Answer[] = [];
for (const kind of DECODE_WEIGHTS) {
  await using backend = open(kind);
  const sampler = await backend.openSampler();
  const speed = `${(1 / (await secondsPerToken(sampler))).toFixed(1)} tokens/s at batch 1`;
  if (kind === 'f32') {
    for (const prompt of prompts) answers.push(await greedy(sampler, prompt, TOKENS));
    console.log(`${kind}: ${speed}`);
    continue;
  }
  let [compared, same, divergence, distance] = [0, 0, 0, 0];
  for (const [i, prompt] of prompts.entries()) {
    const exact = answers[i];
    for (let at = 0; at < TOKENS - 1;) {
      const rough = await greedy(sampler, [...prompt, ...exact.tokens.slice(0, at)], TOKENS - at);
      // The first token comes from the prompt, which is read with the whole weights.
      let step = 1;
      for (let agrees = true; agrees && at + step < TOKENS; step++) {
        const likely = new Map(rough.top[step].map(({ token, logprob }) => [token, logprob]));
        const floor = rough.top[step].at(-1)!.logprob;
        for (const { token, logprob } of exact.top[at + step])
          divergence += Math.exp(logprob) * (logprob - (likely.get(token) ?? floor));
        const wanted = exact.tokens[at + step];
        distance += Math.abs(exact.top[at + step][0].logprob - (likely.get(wanted) ?? floor));
        agrees = rough.tokens[step] === wanted;
        compared++;
        if (agrees) same++;
      }
      at += step;
    }
  }
  console.log(
    `${kind}: ${speed}; most likely token the same at ${((100 * same) / compared).toFixed(1)} % of ${compared} places, ` +
      `mean divergence ${(divergence / compared).toFixed(4)} nats, its log-probability off by ${(distance / compared).toFixed(3)}`,
  );
}
