// One process that loads a model as the engine does and takes what `model info` estimates: argv is the GGUF file and
// `sampling` or `training`. Prints JSON: the estimate's and the process's own peak, bytes.

import { EmbeddedBackend, loadPretrained, openGguf } from '../../src/engine/index.ts';
import { estimateMemory, MEMORY_ASSUMPTIONS } from '../../src/cli/model-memory.ts';

const [file, what] = process.argv.slice(2) as [string, 'sampling' | 'training'];
const { sequences, sequenceTokens, trainingTokens, rank } = MEMORY_ASSUMPTIONS;
const NEW_TOKENS = 16;

const { source } = await openGguf(file);
const { config, weights } = await loadPretrained(source);
await source.close();
await using backend = new EmbeddedBackend({ modelName: file, config, weights, scored: 'weighted' });
const tokens = (count: number, seed: number): number[] =>
  Array.from({ length: count }, (_, i) => ((i * 31 + seed * 997) % (config.vocabSize - 10)) + 5);

if (what === 'sampling') {
  await using sampler = await backend.openSampler();
  await Promise.all(
    Array.from({ length: sequences }, (_, i) =>
      sampler.sample({
        prompt: tokens(sequenceTokens - NEW_TOKENS, i),
        numSamples: 1,
        params: { maxTokens: NEW_TOKENS, seed: i },
      }),
    ),
  );
} else {
  await using trainer = await backend.createTrainer({ lora: { rank } });
  const row = tokens(trainingTokens + 1, 1);
  // A quarter of the positions is scored, as answers are.
  const weightsOf = row.slice(1).map((_, i) => (i % 4 === 3 ? 1 : 0));
  const datum = { tokens: row.slice(0, -1), lossInputs: { targetTokens: row.slice(1), weights: weightsOf } };
  await trainer.forwardBackward([datum], 'cross_entropy');
  await trainer.optimStep({ learningRate: 1e-4 });
}
const { samplingBytes, trainingBytes } = estimateMemory(config, weights.flat.length);
const estimate = what === 'sampling' ? samplingBytes : trainingBytes;
process.stdout.write(`${JSON.stringify({ estimate, peak: process.resourceUsage().maxRSS * 1024 })}\n`);
