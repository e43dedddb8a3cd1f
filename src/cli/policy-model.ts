// The model that a stage command works with, wherever it computes: weights in this process, or a model on a Tinker
// server. From a name on the command line to trainers, samplers and the format that the model speaks.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TabwrightError, type LoraOptions, type Renderer, type Sampler, type Trainer } from '../core/index.ts';
import { EmbeddedBackend } from '../engine/index.ts';
import { readRun } from '../store/index.ts';
import { findApiKey, ServiceClient, TINKER_SCHEME, TinkerBackend } from '../tinker/index.ts';
import { createNanoRenderer, NANO_VOCABULARY_SIZE } from '../tokens/index.ts';
import { openModel, samplerOf, trainerOf } from './models.ts';

export interface PolicyModel extends AsyncDisposable {
  /** As it was asked for. */
  readonly name: string;
  readonly kind: 'embedded' | 'tinker';
  readonly renderer: Renderer;
  /** Default: adapters of rank 32 on a server, every weight in this process; rank 0 is every weight. */
  createTrainer(options?: { readonly rank?: number | undefined }): Promise<Trainer>;
  /** Of the model as it is, whatever is trained meanwhile. */
  openSampler(): Promise<Sampler>;
}

export type PolicyModelOptions = {
  /** Address of the Tinker server. Default `TINKER_BASE_URL`, then Tinker itself. */
  readonly baseUrl?: string | undefined;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
};

const TINKER_URL = 'https://tinker.thinkingmachines.dev/services/tinker-prod';
const DEFAULT_RANK = 32;
const BASE_PREFIX = 'tinker:';

export async function openPolicyModel(name: string, options: PolicyModelOptions): Promise<PolicyModel> {
  const remote = await remoteModel(name);
  if (remote !== undefined) return openRemote(name, remote, options);
  if (options.baseUrl !== undefined) {
    throw new TabwrightError(
      'config',
      `--base-url is for models on a Tinker server (tinker:<name>), not for ${name}.`,
      {
        code: 'option-without-effect',
        details: { name },
      },
    );
  }
  return openEmbedded(name);
}

async function openEmbedded(name: string): Promise<PolicyModel> {
  const model = await openModel(name);
  const open: AsyncDisposable[] = [];
  return {
    name,
    kind: 'embedded',
    renderer: model.renderer,
    async createTrainer({ rank = 0 } = {}) {
      // The trainer takes the weights over; whatever else is opened reads them anew.
      const { config, weights } = await openModel(name);
      if (rank === 0) return trainerOf({ ...model, config, weights });
      const backend = new EmbeddedBackend({ modelName: name, config, weights, scored: 'weighted' });
      open.push(backend);
      return backend.createTrainer({ lora: lora(rank) });
    },
    async openSampler() {
      const { config, weights } = await openModel(name);
      const { sampler, [Symbol.asyncDispose]: dispose } = samplerOf({ ...model, config, weights });
      open.push({ [Symbol.asyncDispose]: dispose });
      return sampler;
    },
    async [Symbol.asyncDispose]() {
      for (const part of open.reverse()) await part[Symbol.asyncDispose]();
    },
  };
}

/** A base model by its name on the server, or a checkpoint: for sampling, for going on with, or both. */
type Remote = { readonly base: string } | { readonly sampler: string; readonly state: string };

/** Undefined for models of this machine. A run folder that was trained on a server names its last checkpoint. */
async function remoteModel(name: string): Promise<Remote | undefined> {
  if (name.startsWith(TINKER_SCHEME)) return { sampler: name, state: name };
  if (name.startsWith(BASE_PREFIX)) return { base: name.slice(BASE_PREFIX.length) };
  const isRun = await stat(join(name, 'checkpoints.jsonl')).then(
    () => true,
    () => false,
  );
  if (!isRun) return undefined;
  const last = (await (await readRun(name)).readCheckpoints()).at(-1);
  const state = last?.state_path?.startsWith(TINKER_SCHEME) ? last.state_path : undefined;
  return state === undefined ? undefined : { sampler: last?.sampler_path ?? state, state };
}

async function openRemote(name: string, remote: Remote, options: PolicyModelOptions): Promise<PolicyModel> {
  const { signal, onNotice, baseUrl = process.env['TINKER_BASE_URL'] ?? TINKER_URL } = options;
  const service = await ServiceClient.connect({
    baseUrl,
    apiKey: findApiKey({ baseUrl }),
    signal,
    onNotice,
    userMetadata: { client: 'tabwright' },
  });
  try {
    const baseModel =
      'base' in remote ? remote.base : (await service.rest.weightsInfo(remote.state, signal)).base_model;
    const renderer = rendererOf(baseModel);
    const backend = await TinkerBackend.open({ service, baseModel, vocabSize: NANO_VOCABULARY_SIZE }, { signal });
    const call = { signal };
    return {
      name,
      kind: 'tinker',
      renderer,
      async createTrainer({ rank } = {}) {
        if ('base' in remote) {
          const wanted = rank ?? DEFAULT_RANK;
          return backend.createTrainer(wanted === 0 ? {} : { lora: lora(wanted) }, call);
        }
        if (rank !== undefined) {
          throw new TabwrightError(
            'config',
            `--lora-rank is for base models; ${name} has the adapters it was saved with.`,
            {
              code: 'option-without-effect',
              details: { name },
            },
          );
        }
        return backend.createTrainer({ from: { path: remote.state, optimizer: false } }, call);
      },
      openSampler: () => backend.openSampler('base' in remote ? undefined : remote.sampler, call),
      [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
    };
  } catch (error) {
    await service.close('errored');
    throw error;
  }
}

function lora(rank: number): LoraOptions {
  return { rank };
}

/** Tokenizers stay on this side; of models whose actions can be read here there is one. */
function rendererOf(baseModel: string): Renderer {
  if (baseModel === 'nano' || baseModel.endsWith('/nano')) return createNanoRenderer();
  throw new TabwrightError(
    'config',
    `The model "${baseModel}" has no action format here, only nano has; serve one under that name.`,
    { code: 'unknown-tokenizer', details: { name: baseModel } },
  );
}
