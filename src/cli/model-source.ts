// From a model's name to files on this machine: `hf:owner/name[@revision]` (fetched once), `gguf:file`, or a folder in
// Hugging Face's layout. What is in them, and how the model speaks, is for others.

import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { TabwrightError } from '../core/index.ts';
import {
  fetchModel,
  openGguf,
  openModelFolder,
  type FetchProgress,
  type GgufMetadata,
  type WeightSource,
} from '../engine/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export type ModelFiles =
  | {
      readonly kind: 'folder';
      readonly path: string;
      /** `owner/name` on the hub, where it came from there. */
      readonly hubName?: string;
      readonly commit?: string;
    }
  | { readonly kind: 'gguf'; readonly path: string };

export type ResolveModelOptions = {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FetchProgress) => void;
  /** HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, TABWRIGHT_CACHE, XDG_CACHE_HOME. Default the process's. */
  readonly environment?: Environment;
};

export async function resolveModel(name: string, options: ResolveModelOptions = {}): Promise<ModelFiles> {
  if (name.startsWith('gguf:')) return { kind: 'gguf', path: resolve(name.slice('gguf:'.length)) };
  if (name.startsWith('hf:')) return resolveHubModel(name.slice('hf:'.length), options);
  const entry = await stat(name).catch(() => undefined); // not there: said below
  if (entry?.isDirectory()) return { kind: 'folder', path: resolve(name) };
  if (entry?.isFile() && name.endsWith('.gguf')) return { kind: 'gguf', path: resolve(name) };
  const message = `There is no model "${name}": give hf:owner/name, gguf:file, or a folder with config.json and safetensors.`;
  throw new TabwrightError('config', message, { code: 'unknown-model', details: { name } });
}

/** Where fetched models lie. */
export function modelCache(environment: Environment): string {
  const { TABWRIGHT_CACHE: own, XDG_CACHE_HOME: shared } = environment;
  if (own) return join(own, 'models');
  return join(shared ? shared : join(homedir(), '.cache'), 'tabwright', 'models');
}

async function resolveHubModel(name: string, options: ResolveModelOptions): Promise<ModelFiles> {
  const { signal, onProgress, environment = process.env } = options;
  const at = name.indexOf('@');
  const repo = at < 0 ? name : name.slice(0, at);
  const revision = at < 0 ? undefined : name.slice(at + 1);
  const { HF_ENDPOINT: endpoint, HF_TOKEN: token, HF_HUB_OFFLINE: offline } = environment;
  const { folder, commit } = await fetchModel({
    repo,
    cache: modelCache(environment),
    offline: offline !== undefined && /^(1|on|yes|true)$/i.test(offline),
    ...(revision ? { revision } : {}),
    ...(endpoint ? { endpoint } : {}),
    ...(token ? { token } : {}),
    ...(signal ? { signal } : {}),
    ...(onProgress ? { onProgress } : {}),
  });
  return { kind: 'folder', path: folder, hubName: repo, commit };
}

export type OpenedModel = {
  readonly files: ModelFiles;
  readonly source: WeightSource;
  /** Of a GGUF file. */
  readonly metadata?: GgufMetadata;
  /** Element types of a GGUF file, the most frequent first. */
  readonly types?: readonly string[];
};

/** The weights of a model by name; the caller closes `source`. */
export async function openModelSource(name: string, options: ResolveModelOptions = {}): Promise<OpenedModel> {
  const files = await resolveModel(name, options);
  if (files.kind === 'folder') return { files, source: await openModelFolder(files.path) };
  const { source, metadata, types } = await openGguf(files.path);
  return { files, source, metadata, types };
}
