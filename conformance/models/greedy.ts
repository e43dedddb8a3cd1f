// Greedy continuations by the embedded engine against those of transformers (`greedy.py`): equal for 64 tokens, a
// difference excused where the reference's first and second choice lay within 0.01 of each other.
// Usage: npx tsx conformance/models/greedy.ts <model folder> <reference.json>

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { openModelFolder } from '../../src/engine/formats/safetensors-source.ts';
import { EmbeddedBackend, loadPretrained } from '../../src/engine/index.ts';

const NEAR_TIE = 0.01;
const LEAST_PROMPTS = 20;

const referenceSchema = z.object({
  stop: z.number(),
  results: z.array(z.object({ prompt: z.array(z.number()), tokens: z.array(z.number()), gaps: z.array(z.number()) })),
});

const [folder, file] = process.argv.slice(2);
if (!folder || !file) throw new Error('Usage: npx tsx conformance/models/greedy.ts <model folder> <reference.json>');
const { stop, results } = referenceSchema.parse(JSON.parse(await readFile(file, 'utf8')));
const source = await openModelFolder(folder);
const model = await loadPretrained(source);
await source.close();
await using backend = new EmbeddedBackend({ modelName: folder, ...model });
const sampler = await backend.openSampler();

let passed = 0;
let excused = 0;
let failed = 0;
const found = await Promise.all(
  results.map(({ prompt }) =>
    sampler.sample({ prompt, numSamples: 1, params: { maxTokens: 64, temperature: 0, stop: [stop] } }),
  ),
);
results.forEach(({ tokens, gaps }, i) => {
  const own = found[i][0].tokens;
  const at = tokens.findIndex((token, t) => own[t] !== token);
  if (at < 0 && own.length === tokens.length) {
    passed++;
    console.log(`ok       prompt ${i}: ${tokens.length} tokens, smallest gap ${Math.min(...gaps).toFixed(4)}`);
  } else if (at >= 0 && gaps[at] < NEAR_TIE) {
    excused++;
    console.log(`near tie prompt ${i}: equal up to token ${at} of ${tokens.length}, gap there ${gaps[at].toFixed(4)}`);
  } else {
    failed++;
    console.log(`FAILED   prompt ${i}: differs at token ${at} of ${tokens.length}, gap ${gaps[at]?.toFixed(4)}`);
  }
});
console.log(`${excused} near ties excused`);
console.log(`${passed} passed, ${failed + (passed + excused < LEAST_PROMPTS ? 1 : 0)} failed`);
process.exitCode = failed > 0 || passed + excused < LEAST_PROMPTS ? 1 : 0;
