// Greedy continuations of SmolLM2-135M-Instruct by the embedded engine: those of transformers in single precision on the
// same weights, 24 prompts, up to 64 tokens, near-ties excused and counted. Ends with `N passed, N failed`.
// Usage: npx tsx conformance/models/greedy.ts      (after prepare.ts)

import { EmbeddedBackend, loadPretrained, openModelFolder } from '../../src/engine/index.ts';
import { loadTokenizer } from '../../src/tokens/index.ts';
import { judgeGreedy } from './greedy-verdict.ts';
import { requireOracles, SMOLLM2 } from './places.ts';
import { smolLm2Prompts, STOP } from './prompts.ts';

const TOKENS = 64;

requireOracles();
const tokenizer = await loadTokenizer(SMOLLM2);
const [stop] = tokenizer.encode(STOP, { control: true });
const prompts = smolLm2Prompts(tokenizer);
const rows = await continuations();
const verdict = await judgeGreedy(SMOLLM2, rows, { tokens: TOKENS, stop });
for (const line of verdict.different) console.log(`FAILED ${line}`);
console.log(`${verdict.tokens} tokens compared, ${verdict.nearTies} near-ties among them`);
console.log(`${verdict.identical} of ${rows.length} identical, ${verdict.excused} excused at near-ties`);
console.log(`${verdict.identical + verdict.excused} passed, ${verdict.different.length} failed`);
process.exitCode = verdict.different.length > 0 ? 1 : 0;

/** All at once: the engine decodes them in one running batch, as it does for everybody. */
async function continuations(): Promise<{ prompt: number[]; tokens: number[] }[]> {
  const source = await openModelFolder(SMOLLM2);
  const model = await loadPretrained(source);
  await source.close();
  await using backend = new EmbeddedBackend({ modelName: SMOLLM2, ...model });
  const sampler = await backend.openSampler();
  const params = { maxTokens: TOKENS, temperature: 0, stop: [stop] };
  return Promise.all(
    prompts.map(async (prompt) => {
      const [{ tokens }] = await sampler.sample({ prompt, numSamples: 1, params });
      return { prompt, tokens: [...tokens] };
    }),
  );
}
