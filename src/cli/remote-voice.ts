// The tokenizer of a model whose weights are on a server: where it is said to lie, or by the model's name a folder of this
// machine or a repository that was fetched before, here or by Hugging Face's own tools. Fetches nothing, reads no weights.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { TabwrightError, type Tokenizer } from '../core/index.ts';
import { modelFamily } from '../tokens/index.ts';
import type { ModelFiles } from './model-source.ts';
import { namesOf } from './models.ts';
import { findPretrained, openVoice, type Template } from './open-pretrained.ts';

export type ModelShape = { readonly family: string; readonly hiddenSize: number };

export type RemoteVoice = {
  readonly tokenizer: Tokenizer;
  /** Its own chat template, where it has one. */
  readonly template: Template | undefined;
  /** What the model may be known by besides the server's name for it. */
  readonly names: readonly string[];
  readonly shape: ModelShape | undefined;
};

export type RemoteVoiceOptions = {
  /** As the server calls it. */
  readonly baseModel: string;
  /** A folder, `gguf:file`, or a repository of the hub. Default by the model's name. */
  readonly tokenizer?: string | undefined;
  /** What the server says the tokenizer is; asked for when the name leads nowhere. */
  readonly ask?: () => Promise<string | undefined>;
  /** Default the process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
};

export async function findRemoteVoice(options: RemoteVoiceOptions): Promise<RemoteVoice> {
  const { baseModel, tokenizer, ask } = options;
  const asked = tokenizer ?? baseModel;
  let files = await find(asked, options);
  let found = asked;
  if (files === undefined && tokenizer === undefined) {
    const told = await ask?.();
    if (told !== undefined && told !== asked) [files, found] = [await find(told, options), told];
  }
  if (files === undefined) {
    throw new TabwrightError(
      'config',
      `The tokenizer of ${baseModel} is not on this machine (looked for ${[...new Set([asked, found])].join(' and ')}): ` +
        'give --tokenizer a folder with its tokenizer.json, or fetch it (hf download <owner/name> tokenizer.json ' +
        'tokenizer_config.json config.json).',
      { code: 'unknown-tokenizer', details: { name: baseModel, tokenizer: asked } },
    );
  }
  const voice = await openVoice(files);
  const shape = files.kind === 'folder' ? await shapeOf(files.path, baseModel) : undefined;
  return { ...voice, names: namesOf(found, files), shape };
}

async function find(name: string, options: RemoteVoiceOptions): Promise<ModelFiles | undefined> {
  const { signal, environment = process.env } = options;
  // The weights of such a model are large and of no use here, so that nothing is fetched for its tokenizer.
  const offline = { signal, environment: { ...environment, HF_HUB_OFFLINE: '1' } };
  const plain = name.replace(/^hf:/, '');
  if (name.startsWith('gguf:')) return findPretrained(name, offline);
  for (const folder of [plain, await sharedCacheFolder(plain, environment)]) {
    if (folder !== undefined && (await hasTokenizer(folder))) return { kind: 'folder', path: folder };
  }
  try {
    return await findPretrained(`hf:${plain}`, offline);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TabwrightError) return undefined; // not a name of the hub, or never fetched
    throw error;
  }
}

/** Where Hugging Face's own tools have put `owner/name`, at its main branch. */
async function sharedCacheFolder(
  name: string,
  { HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME }: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (!/^[\w-][\w.-]*\/[\w.-]+$/.test(name)) return undefined;
  const home = HF_HOME ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'huggingface');
  const repo = join(HF_HUB_CACHE ?? join(home, 'hub'), `models--${name.replace('/', '--')}`);
  try {
    return join(repo, 'snapshots', (await readFile(join(repo, 'refs', 'main'), 'utf8')).trim());
  } catch {
    return undefined; // never fetched
  }
}

async function hasTokenizer(folder: string): Promise<boolean> {
  return readFile(join(folder, 'tokenizer.json')).then(
    () => true,
    () => false,
  );
}

/** What the config beside a tokenizer says of the model, where there is one. */
async function shapeOf(folder: string, baseModel: string): Promise<ModelShape | undefined> {
  let config: Readonly<Record<string, unknown>>;
  try {
    config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined; // a tokenizer alone is enough to play
  }
  const inner = (config['text_config'] ?? config) as Readonly<Record<string, unknown>>;
  const { hidden_size: hiddenSize } = inner;
  if (typeof hiddenSize !== 'number') return undefined;
  const { model_type: type } = config;
  const family = typeof type === 'string' ? type : familyName(baseModel);
  return family === undefined ? undefined : { family, hiddenSize };
}

function familyName(baseModel: string): string | undefined {
  try {
    return modelFamily(baseModel).family;
  } catch {
    return undefined; // its config says nothing and its name is not known
  }
}
