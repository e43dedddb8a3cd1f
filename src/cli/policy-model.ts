// The model that a stage command works with, wherever it computes: weights in this process, or a model on a Tinker
// server. From a name on the command line to trainers, samplers and the format that the model speaks.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  TabwrightError,
  type JsonObject,
  type LoraOptions,
  type Renderer,
  type Sampler,
  type Trainer,
} from '../core/index.ts';
import { EmbeddedBackend, type DecodeWeights, type FetchProgress } from '../engine/index.ts';
import { readRun } from '../store/index.ts';
import { findApiKey, isLoopback, ServiceClient, TINKER_SCHEME, TinkerBackend } from '../tinker/index.ts';
import { createNanoRenderer, NANO_VOCABULARY_SIZE } from '../tokens/index.ts';
import { createChatPolicy, refuseChatSettings, type ChatSettings } from './chat-policy.ts';
import { openModel, samplerOf, trainerOf, type LoadedModel } from './models.ts';
import { findRemoteVoice, type ModelShape, type RemoteVoice } from './remote-voice.ts';

export interface PolicyModel extends AsyncDisposable {
  /** As it was asked for. */
  readonly name: string;
  readonly kind: 'embedded' | 'tinker';
  /** What a run's config notes of where the model is, so that resuming the run and opening it ask the same server. */
  readonly noted: { readonly baseUrl?: string };
  readonly renderer: Renderer;
  /** Whether a sample may take minutes: on a server that is busy with others, or of a large model on processors. */
  readonly isSlow: boolean;
  /** Width and family, where they are known; rules for learning rates ask for them. */
  readonly shape: ModelShape | undefined;
  /** Whether a trainer of this rank trains adapters. */
  trainsAdapters(rank: number | undefined): boolean;
  /** Default: adapters of rank 32, every weight of the shipped model in this process; rank 0 is every weight. */
  createTrainer(options?: { readonly rank?: number | undefined }): Promise<Trainer>;
  /** Of the model as it is, whatever is trained meanwhile. */
  openSampler(): Promise<Sampler>;
}

export type PolicyModelOptions = {
  /** Of pretrained models. Default none given. */
  readonly settings?: ChatSettings;
  /** Where the tokenizer of a model on a server lies. Default found by the model's name. */
  readonly tokenizer?: string | undefined;
  /**
   * Weights that samplers of large pretrained models of this process decode with. Default `f32`. Rounded ones are another
   * policy than the one that is trained.
   */
  readonly decodeWeights?: DecodeWeights | undefined;
  /** Told how far a model of the hub has come. */
  readonly onProgress?: (progress: FetchProgress) => void;
  /** Address of the Tinker server. Default what the run noted, `TINKER_BASE_URL`, then Tinker itself. */
  readonly baseUrl?: string | undefined;
  /** Folder of the run that is gone on with. */
  readonly resumes?: string | undefined;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
};

/** The hosted service. */
export const TINKER_URL = 'https://tinker.thinkingmachines.dev/services/tinker-prod';
const DEFAULT_RANK = 32;
const BASE_PREFIX = 'tinker:';

export async function openPolicyModel(name: string, options: PolicyModelOptions): Promise<PolicyModel> {
  const remote = await remoteModel(name);
  if (remote !== undefined) {
    if (isRounded(options.decodeWeights)) {
      throw roundingWithoutEffect(name, 'a model on a Tinker server, which rounds nothing unless it is told to');
    }
    return openRemote(name, remote, options);
  }
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
  if (options.tokenizer !== undefined) {
    throw new TabwrightError(
      'config',
      `--tokenizer is for models on a Tinker server; ${name} has its own beside its weights.`,
      { code: 'option-without-effect', details: { name } },
    );
  }
  return openEmbedded(name, options);
}

async function openEmbedded(name: string, options: PolicyModelOptions): Promise<PolicyModel> {
  const model = await openModel(name, { ...options, adaptersToo: true });
  const { config, family, adapters, renderer } = model;
  const shape = family === undefined ? undefined : { family, hiddenSize: config.hiddenSize };
  const { decodeWeights } = options;
  const common = { name, kind: 'embedded', noted: {}, renderer, shape, isSlow: family !== undefined } as const;
  const isLarge = adapters !== undefined || family !== undefined;
  if (!isLarge && isRounded(decodeWeights)) throw roundingWithoutEffect(name, 'a small one that is run whole');
  return isLarge ? { ...common, ...onBackend(model, decodeWeights) } : { ...common, ...onWeights(name, model) };
}

type Opened = Pick<PolicyModel, 'trainsAdapters' | 'createTrainer' | 'openSampler' | typeof Symbol.asyncDispose>;

/** One base in memory under everything that is opened: for large models, and for adapters, which lie beside theirs. */
function onBackend({ name, config, weights, adapters }: LoadedModel, decodeWeights: DecodeWeights | undefined): Opened {
  const rounding = decodeWeights === undefined ? {} : { decodeWeights };
  const backend = new EmbeddedBackend({ modelName: name, config, weights, scored: 'weighted', ...rounding });
  return {
    trainsAdapters: (rank) => adapters !== undefined || rank !== 0,
    async createTrainer({ rank } = {}) {
      if (adapters === undefined) {
        return backend.createTrainer(rank === 0 ? {} : { lora: lora(rank ?? DEFAULT_RANK) });
      }
      if (rank !== undefined) throw rankWithoutEffect(name);
      return backend.createTrainer({ from: { path: adapters, optimizer: false } });
    },
    openSampler: () => backend.openSampler(adapters),
    [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
  };
}

/** A small model whose every weight may be trained. */
function onWeights(name: string, model: LoadedModel): Opened {
  const open: AsyncDisposable[] = [];
  return {
    trainsAdapters: (rank) => rank !== undefined && rank > 0,
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
type Remote = ({ readonly base: string } | { readonly sampler: string; readonly state: string }) & {
  /** Where the run says its checkpoints are. */
  readonly baseUrl?: string | undefined;
};

/** Undefined for models of this machine. A run folder that was trained on a server names its last checkpoint. */
async function remoteModel(name: string): Promise<Remote | undefined> {
  if (name.startsWith(TINKER_SCHEME)) return { sampler: name, state: name };
  if (name.startsWith(BASE_PREFIX)) return { base: name.slice(BASE_PREFIX.length) };
  const isRun = await stat(join(name, 'checkpoints.jsonl')).then(
    () => true,
    () => false,
  );
  if (!isRun) return undefined;
  const run = await readRun(name);
  const last = (await run.readCheckpoints()).at(-1);
  const state = last?.state_path?.startsWith(TINKER_SCHEME) ? last.state_path : undefined;
  return state === undefined
    ? undefined
    : { sampler: last?.sampler_path ?? state, state, baseUrl: notedUrl(run.config) };
}

function notedUrl({ baseUrl }: JsonObject): string | undefined {
  return typeof baseUrl === 'string' ? baseUrl : undefined;
}

/** The flag, then what a run has noted: paths of checkpoints mean nothing to another server. */
async function serverUrl(remote: Remote, { baseUrl, resumes, onNotice }: PolicyModelOptions): Promise<string> {
  if (baseUrl !== undefined) return baseUrl;
  const usual = process.env['TINKER_BASE_URL'] ?? TINKER_URL;
  const noted = (resumes === undefined ? undefined : notedUrl((await readRun(resumes)).config)) ?? remote.baseUrl;
  // A folder from elsewhere may name any server, which is sent the key.
  if (noted !== undefined && noted !== usual && URL.canParse(noted) && !isLoopback(noted)) {
    onNotice(`The Tinker server is ${noted}, as the run notes.`);
  }
  return noted ?? usual;
}

async function openRemote(name: string, remote: Remote, options: PolicyModelOptions): Promise<PolicyModel> {
  const { signal, onNotice } = options;
  const baseUrl = await serverUrl(remote, options);
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
    const voice = await voiceOf(baseModel, { ...options, service });
    const vocabSize = voice?.tokenizer.vocabSize ?? NANO_VOCABULARY_SIZE;
    const backend = await TinkerBackend.open({ service, baseModel, vocabSize }, { signal });
    const renderer = rendererOf({ baseModel, voice, options, contextLength: backend.contextLength });
    const call = { signal };
    return {
      name,
      kind: 'tinker',
      noted: { baseUrl: service.baseUrl },
      renderer,
      isSlow: true,
      shape: voice?.shape,
      trainsAdapters: (rank) => !('base' in remote) || rank !== 0,
      async createTrainer({ rank } = {}) {
        if ('base' in remote) {
          const wanted = rank ?? DEFAULT_RANK;
          return backend.createTrainer(wanted === 0 ? {} : { lora: lora(wanted) }, call);
        }
        if (rank !== undefined) {
          throw rankWithoutEffect(name);
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

function isRounded(decodeWeights: DecodeWeights | undefined): boolean {
  return decodeWeights !== undefined && decodeWeights !== 'f32';
}

/** Of a model that does not decode with weights of this process. */
export function roundingWithoutEffect(name: string, what: string): TabwrightError {
  return new TabwrightError(
    'config',
    `--decode-weights is for pretrained models of this machine, and ${name} is ${what}.`,
    {
      code: 'option-without-effect',
      details: { name },
    },
  );
}

function lora(rank: number): LoraOptions {
  return { rank };
}

function rankWithoutEffect(name: string): TabwrightError {
  return new TabwrightError('config', `--lora-rank is for base models; ${name} has the adapters it was saved with.`, {
    code: 'option-without-effect',
    details: { name },
  });
}

function isNano(baseModel: string): boolean {
  return baseModel === 'nano' || baseModel.endsWith('/nano');
}

/** Tokenizers stay on this side. Undefined for nano, whose own is shipped. */
async function voiceOf(
  baseModel: string,
  { settings, tokenizer, signal, service }: PolicyModelOptions & { readonly service: ServiceClient },
): Promise<RemoteVoice | undefined> {
  if (isNano(baseModel)) {
    refuseChatSettings(baseModel, { ...settings });
    return undefined;
  }
  // Only a model that is trained can be asked for its tokenizer; the smallest will do.
  const ask = async (): Promise<string | undefined> => {
    const client = await service.createTrainingClient({ baseModel, lora: { rank: 1 }, signal });
    try {
      return client.info?.model_data.tokenizer_id ?? undefined;
    } finally {
      await client.unload(signal);
    }
  };
  return findRemoteVoice({ baseModel, tokenizer, signal, ask });
}

type RendererParts = {
  readonly baseModel: string;
  readonly voice: RemoteVoice | undefined;
  readonly options: PolicyModelOptions;
  readonly contextLength: number;
};

function rendererOf({ baseModel, voice, options, contextLength }: RendererParts): Renderer {
  if (voice === undefined) return createNanoRenderer();
  const { settings = {}, onNotice } = options;
  return createChatPolicy({
    names: [baseModel, ...voice.names],
    tokenizer: voice.tokenizer,
    template: voice.template,
    contextLength: Math.min(contextLength, settings.contextLength ?? contextLength),
    settings,
    onNotice,
  });
}
