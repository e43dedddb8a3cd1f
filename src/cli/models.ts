// From a model's name on the command line to weights and the format they speak: `nano` is shipped, anything else is
// a folder, either a saved model or a run, whose newest checkpoint is taken.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TabwrightError, type Renderer } from '../core/index.ts';
import {
  EmbeddedSampler,
  EmbeddedTrainer,
  loadModel,
  SamplerRuntime,
  type ModelConfig,
  type Weights,
} from '../engine/index.ts';
import { readRun } from '../store/index.ts';
import { createNanoRenderer, NANO_VOCABULARY_SIZE } from '../tokens/index.ts';

/** Where the package keeps the model that it ships. */
export const NANO_PATH = fileURLToPath(new URL('../../assets/nano', import.meta.url));

export type LoadedModel = {
  /** As it was asked for. */
  readonly name: string;
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly renderer: Renderer;
};

export async function openModel(name: string): Promise<LoadedModel> {
  const path = name === 'nano' ? NANO_PATH : await modelFolder(name);
  const { config, weights } = await loadModel(path);
  if (config.vocabSize !== NANO_VOCABULARY_SIZE) {
    const message = `The model ${name} has a vocabulary of ${config.vocabSize}; only nano's of ${NANO_VOCABULARY_SIZE} has a tokenizer here.`;
    throw new TabwrightError('config', message, { code: 'unknown-tokenizer', details: { name } });
  }
  return { name, config, weights, renderer: createNanoRenderer() };
}

/** A trainer on a model; positions without weight or advantage are not scored. */
export function trainerOf({ config, weights }: LoadedModel): EmbeddedTrainer {
  return new EmbeddedTrainer({ config, weights, scored: 'weighted' });
}

/** A sampler of a model that will not be trained; both are disposed of together. */
export function samplerOf({ config, weights }: LoadedModel): { readonly sampler: EmbeddedSampler } & AsyncDisposable {
  const runtime = new SamplerRuntime(config);
  const sampler = EmbeddedSampler.of(runtime, weights, 0);
  return {
    sampler,
    async [Symbol.asyncDispose]() {
      await sampler[Symbol.asyncDispose]();
      await runtime[Symbol.asyncDispose]();
    },
  };
}

async function modelFolder(name: string): Promise<string> {
  const isFolder = await stat(name).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    throw new TabwrightError('config', `There is no model "${name}": give nano, a model folder or a run folder.`, {
      code: 'unknown-model',
      details: { name },
    });
  }
  const isRun = await stat(join(name, 'checkpoints.jsonl')).then(
    () => true,
    () => false,
  );
  if (!isRun) return name;
  const run = await readRun(name);
  const last = (await run.readCheckpoints()).at(-1);
  if (!last) {
    throw new TabwrightError('config', `The run ${name} has no checkpoint yet; train it first.`, {
      code: 'no-checkpoint',
      details: { name },
    });
  }
  return run.checkpointPath(last.sampler_path ?? last.state_path ?? last.name);
}
