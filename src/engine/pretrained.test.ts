// Tiny random models of each architecture against what transformers and PEFT compute for them in single precision
// (`conformance/models/make-fixtures.py`): logits, adapters' gradients, and a digest of every weight's gradient.

import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Datum } from '../core/index.ts';
import { EmbeddedBackend } from './backend.ts';
import { openModelFolder } from './formats/safetensors-source.ts';
import { parseHuggingFaceConfig } from './hugging-face-config.ts';
import { loadPretrained, type PretrainedModel } from './pretrained.ts';
import { decodeSafetensors, type NamedTensor } from './safetensors.ts';
import { EmbeddedTrainer } from './trainer.ts';

const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url));
const EXECUTIONS = ['whole', 'layers'] as const;
const LORA = {
  rank: 2,
  alpha: 6,
  targetModules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj', 'lm_head'] as const,
};

const cases = await readdir(FIXTURES);

/** Largest difference relative to the largest entry of what is expected. */
function relativeError(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  let worst = 0;
  let largest = 0;
  for (let i = 0; i < expected.length; i++) {
    worst = Math.max(worst, Math.abs(found[i] - expected[i]));
    largest = Math.max(largest, Math.abs(expected[i]));
  }
  return worst / largest;
}

it('has a model of each architecture', () => {
  expect(cases).toEqual([
    ...['gemma3', 'gemma3-v5', 'llama', 'llama-3', 'llama-biases', 'qwen2', 'qwen2-sliding', 'qwen3'],
  ]);
});

describe.each(cases)('%s', (name) => {
  let model: PretrainedModel;
  let expected: Map<string, NamedTensor>;
  let data: Datum[];
  const values = (key: string): Float32Array => expected.get(key)!.data;

  /** Relative to the sum of what the loss adds up, since that has both signs. */
  const expectSameLoss = (found: number, reference: number): void => {
    const size = [0, 1].flatMap((i) => [...values(`weights.${i}`)]).reduce((sum, w) => sum + Math.abs(w), 0);
    expect(Math.abs(found - reference) / size).toBeLessThan(1e-5);
  };

  beforeAll(async () => {
    const source = await openModelFolder(`${FIXTURES}${name}`);
    model = await loadPretrained(source);
    await source.close();
    const bytes = await readFile(`${FIXTURES}${name}/expected.safetensors`);
    expected = decodeSafetensors(bytes, name).tensors;
    data = [0, 1].map((i) => {
      const ids = [...values(`ids.${i}`)];
      return {
        tokens: ids.slice(0, -1),
        lossInputs: { targetTokens: ids.slice(1), weights: [...values(`weights.${i}`)] },
      };
    });
  });

  it.each(EXECUTIONS)(
    'has the log-probabilities of the reference logits in scoring and in decoding, run by %s',
    async (execution) => {
      const { config } = model;
      await using backend = new EmbeddedBackend({ modelName: name, ...model, threads: 1, execution });
      const sampler = await backend.openSampler();
      const every = Array.from({ length: config.vocabSize }, (_, token) => token);
      for (const [i, { tokens }] of data.entries()) {
        const logits = values(`logits.${i}`);
        const rows = tokens.map((_, t) =>
          logSoftmax(logits.subarray(t * config.vocabSize, (t + 1) * config.vocabSize)),
        );
        const targets = tokens.flatMap(() => every);
        const scores = await sampler.scorePrompt([...tokens, 0], { targets });
        expect(relativeError(scores.targets!, rows.flat())).toBeLessThan(1e-5);
        // What was decoded, read again as a whole.
        const [greedy] = await sampler.sample({
          prompt: tokens.slice(0, 9),
          numSamples: 1,
          params: { maxTokens: 12, temperature: 0, topLogprobs: config.vocabSize },
        });
        const full = [...tokens.slice(0, 9), ...greedy.tokens];
        const again = await sampler.scorePrompt(full, { targets: full.slice(1).flatMap(() => every) });
        greedy.topLogprobs!.forEach((top, step) => {
          const row = again.targets!.slice((8 + step) * config.vocabSize, (9 + step) * config.vocabSize);
          expect(
            relativeError(
              every.map((token) => top.find((one) => one.token === token)!.logprob),
              row,
            ),
          ).toBeLessThan(1e-5);
        });
      }
    },
  );

  it.each(EXECUTIONS)("has the reference's loss and adapter gradients within 1e-4, run by %s", async (execution) => {
    const lora = { ...LORA, targetModules: [...LORA.targetModules] };
    await using trainer = new EmbeddedTrainer({ ...model, lora, threads: 1, execution });
    const adapters = trainer.adapterWeights()!;
    for (const { name: key, data: own } of adapters.tensors()) own.set(values(`lora.${key}`));
    const { metrics } = await trainer.forwardBackward(data, 'cross_entropy');
    expectSameLoss(metrics['loss:sum'], values('lora.loss')[0]);
    const found = trainer.accumulatedGradient();
    const wanted = [...expected.keys()].filter((key) => key.startsWith('gradient.'));
    expect(wanted).toHaveLength(found.size);
    for (const [key, gradient] of found)
      expect(relativeError(gradient, values(`gradient.${key}`)), key).toBeLessThan(1e-4);
  });

  it.each(EXECUTIONS)("has the reference's gradient of every weight, run by %s", async (execution) => {
    await using trainer = new EmbeddedTrainer({
      config: model.config,
      weights: model.weights.clone(),
      threads: 1,
      execution,
    });
    const { metrics } = await trainer.forwardBackward(data, 'cross_entropy');
    expectSameLoss(metrics['loss:sum'], values('full.loss')[0]);
    for (const [key, gradient] of trainer.accumulatedGradient()) {
      const [norm, product] = values(`full.${key}`);
      const along = gradient.reduce((sum, g, i) => sum + g * Math.sin(i + 1), 0);
      expect(Math.hypot(...gradient) / norm, key).toBeCloseTo(1, 4);
      expect(Math.abs(along - product) / norm, key).toBeLessThan(1e-4);
    }
  });

  it.each(
    Object.entries({
      hidden_act: 'relu6',
      hidden_activation: 'relu6',
      use_bidirectional_attention: true,
      attn_logit_softcapping: 30,
      rope_scaling: { rope_type: 'yarn', factor: 2 },
      rope_parameters: { full_attention: { rope_type: 'longrope' } },
      num_experts: 8,
      model_type: 'mamba',
    }),
  )('is refused with %s = %j, by its name', async (key, value) => {
    const source = await openModelFolder(`${FIXTURES}${name}`);
    const config = { ...(source.config as Record<string, unknown>), [key]: value };
    await source.close();
    const gemma = name.startsWith('gemma');
    // Keys that the architecture's reference does not read change nothing.
    const unread = key === (gemma ? 'hidden_act' : 'hidden_activation');
    if (key === 'rope_scaling') delete (config as Record<string, unknown>)['rope_parameters'];
    const parse = (): unknown => parseHuggingFaceConfig(config, { origin: name });
    if (unread) expect(parse()).toEqual(parseHuggingFaceConfig({ ...config, [key]: null }, { origin: name }));
    else
      expect(parse).toThrowError(
        new RegExp(typeof value === 'object' ? 'yarn|longrope' : key === 'model_type' ? 'mamba' : key),
      );
  });
});

function logSoftmax(logits: Float32Array): number[] {
  const top = Math.max(...logits);
  const log = top + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
  return Array.from(logits, (logit) => logit - log);
}
