// From a model's name on the command line to weights and the format they speak: `nano` is shipped; a folder is a saved
// model or a run, whose newest checkpoint is taken; `hf:`, `gguf:` and folders in Hugging Face's layout are pretrained.
// Adapters that a run trained lie beside its base, which is opened by the name that the run has noted.

import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { TabwrightError, type Renderer } from '../core/index.ts';
import {
  EmbeddedSampler,
  EmbeddedTrainer,
  loadModel,
  readSettings,
  SamplerRuntime,
  type FetchProgress,
  type ModelConfig,
  type Weights,
} from '../engine/index.ts';
import { readRun, type ReadonlyRunFolder } from '../store/index.ts';
import { createNanoRenderer, KNOWN_MODELS, NANO_VOCABULARY_SIZE } from '../tokens/index.ts';
import { createChatPolicy, refuseChatSettings, type ChatSettings } from './chat-policy.ts';
import { findPretrained, openPretrained, openVoice } from './open-pretrained.ts';

/** Where the package keeps the model that it ships. */
export const NANO_PATH = fileURLToPath(new URL('../../assets/nano', import.meta.url));

export type LoadedModel = {
  /** As it was asked for. */
  readonly name: string;
  readonly config: ModelConfig;
  readonly weights: Weights;
  readonly renderer: Renderer;
  /** Of a pretrained model, as its config names it, e.g. `qwen3`. */
  readonly family?: string;
  /** A folder with adapters of these weights, which were trained in this process. */
  readonly adapters?: string;
};

export type OpenModelOptions = {
  /** Whether adapters beside their base will do; without, a run of adapters is refused. Default false. */
  readonly adaptersToo?: boolean;
  readonly settings?: ChatSettings;
  readonly signal?: AbortSignal;
  readonly onNotice?: (message: string) => void;
  readonly onProgress?: (progress: FetchProgress) => void;
};

export async function openModel(name: string, options: OpenModelOptions = {}): Promise<LoadedModel> {
  const { settings = {} } = options;
  if (name === 'nano') return openOwn(name, NANO_PATH, settings);
  const pretrained = await openHuggingFace(name, options);
  if (pretrained !== undefined) return pretrained;
  const { path, run } = await modelFolder(name);
  const { base } = await readSettings(path);
  if (base === undefined) return openOwn(name, path, settings);
  // Whoever takes the weights alone would have the base without a word.
  if (options.adaptersToo !== true) throw adaptersAlone(name);
  const under = await openModel(baseName(name, run), options);
  return { ...under, name, adapters: path };
}

/** Weights without any adapters, to be put into a trainer or under a sampler of their own. */
export function trainerOf({ config, weights, adapters, name }: LoadedModel): EmbeddedTrainer {
  if (adapters !== undefined) throw adaptersAlone(name);
  // Positions without weight or advantage are not scored.
  return new EmbeddedTrainer({ config, weights, scored: 'weighted' });
}

/** A sampler of a model that will not be trained; both are disposed of together. */
export function samplerOf(model: LoadedModel): { readonly sampler: EmbeddedSampler } & AsyncDisposable {
  const { config, weights, adapters, name } = model;
  if (adapters !== undefined) throw adaptersAlone(name);
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

async function openOwn(name: string, path: string, settings: ChatSettings): Promise<LoadedModel> {
  const { config, weights } = await loadModel(path);
  if (config.vocabSize !== NANO_VOCABULARY_SIZE) {
    const message =
      `The model ${name} has a vocabulary of ${config.vocabSize}, not nano's of ${NANO_VOCABULARY_SIZE}, and no ` +
      'tokenizer is kept with it: train adapters of it (--lora-rank), which lie beside their base.';
    throw new TabwrightError('config', message, { code: 'unknown-tokenizer', details: { name } });
  }
  refuseChatSettings(name, settings);
  return { name, config, weights, renderer: createNanoRenderer() };
}

async function openHuggingFace(name: string, options: OpenModelOptions): Promise<LoadedModel | undefined> {
  const { settings = {}, signal, onNotice = () => undefined, onProgress } = options;
  const resolving = {
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined ? {} : { onProgress }),
  };
  const files = await findPretrained(name, resolving);
  if (files === undefined) return undefined;
  // How it speaks first: a model that nobody can talk to is refused before its weights are read.
  const { tokenizer, template } = await openVoice(files);
  const policy = (contextLength: number): Renderer =>
    createChatPolicy({ names: namesOf(name, files), tokenizer, template, contextLength, settings, onNotice });
  policy(Number.MAX_SAFE_INTEGER);
  const { contextLength } = settings;
  const { family, config, weights } = await openPretrained(files, { signal, contextLength, tokenizer });
  return { name, config, weights, family, renderer: policy(config.maxPositions) };
}

/** What a pretrained model may be known by: its name on the hub, then that of its folder or file. */
export function namesOf(name: string, files: { readonly path: string; readonly hubName?: string }): readonly string[] {
  const file = basename(files.path).replace(/(?:[.-](?:[A-Z]*F\d+|I?Q\d\w*))?\.gguf$/i, '');
  const known = KNOWN_MODELS.find((model) => model.endsWith(`/${file}`));
  const { hubName = name.replace(/^(hf|gguf):/, '') } = files;
  return [hubName, ...(known === undefined ? [] : [known])];
}

type Folder = { readonly path: string; readonly run: ReadonlyRunFolder | undefined };

async function modelFolder(name: string): Promise<Folder> {
  const isFolder = await stat(name).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    throw new TabwrightError(
      'config',
      `There is no model "${name}": give nano, hf:owner/name, gguf:file, tinker:name, a model folder or a run folder.`,
      { code: 'unknown-model', details: { name } },
    );
  }
  const isRun = await stat(join(name, 'checkpoints.jsonl')).then(
    () => true,
    () => false,
  );
  if (!isRun) return { path: name, run: undefined };
  const run = await readRun(name);
  const last = (await run.readCheckpoints()).at(-1);
  if (!last) {
    throw new TabwrightError('config', `The run ${name} has no checkpoint yet; train it first.`, {
      code: 'no-checkpoint',
      details: { name },
    });
  }
  return { path: run.checkpointPath(last.sampler_path ?? last.state_path ?? last.name), run };
}

/** The model whose adapters a run trained. */
function baseName(name: string, run: ReadonlyRunFolder | undefined): string {
  const base = run?.config['model'];
  if (typeof base === 'string') return base;
  throw new TabwrightError(
    'config',
    `${name} holds adapters alone, and nothing says of which model: give the run folder that they were trained in.`,
    { code: 'unknown-base', details: { name } },
  );
}

function adaptersAlone(name: string): TabwrightError {
  return new TabwrightError(
    'config',
    `${name} holds adapters of another model, and whole weights are needed here: eval, collect, sft and train take it ` +
      'as it is; `tabwright model export --merged` makes a whole model of a pretrained one.',
    { code: 'adapters-alone', details: { name } },
  );
}
