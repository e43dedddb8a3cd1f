// Pretrained models from folders and files of this machine: weights, tokenizer and the tokens that end a text. What they
// are is said by the files; how they speak is `src/tokens`.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TabwrightError, type CallOptions, type Tokenizer } from '../core/index.ts';
import { loadPretrained, openGguf, openModelFolder, type GgufMetadata, type PretrainedModel } from '../engine/index.ts';
import { createGgufTokenizer, loadTokenizer } from '../tokens/index.ts';

export type OpenedPretrained = PretrainedModel & {
  readonly tokenizer: Tokenizer;
  readonly endTokens: readonly number[];
  /** Folder that Hugging Face's libraries read a tokenizer from, where there is one. */
  readonly folder: string | undefined;
};

/** How a model speaks, which needs none of its weights. */
export type Voice = Pick<OpenedPretrained, 'tokenizer' | 'endTokens' | 'folder'>;

export async function openVoice(name: string): Promise<Voice> {
  if (!name.startsWith('gguf:')) return folderVoice(name.replace(/^hf:/, ''));
  const file = name.slice('gguf:'.length);
  const { source, metadata } = await openGguf(file);
  await source.close();
  return fileVoice(file, metadata);
}

async function folderVoice(folder: string): Promise<Voice> {
  return { tokenizer: await loadTokenizer(folder), endTokens: await endTokensOf(folder), folder };
}

function fileVoice(file: string, metadata: GgufMetadata): Voice {
  const end = metadata.get('tokenizer.ggml.eos_token_id')?.value;
  const tokenizer = createGgufTokenizer({ name: file, metadata });
  return { tokenizer, endTokens: typeof end === 'number' ? [end] : [], folder: undefined };
}

export type OpenPretrainedOptions = CallOptions & {
  /** Longest sequence. Default the engine's. */
  readonly contextLength?: number | undefined;
};

/** True for `hf:...`, `gguf:...` and folders in Hugging Face's layout. */
export async function isPretrained(name: string): Promise<boolean> {
  if (/^(hf|gguf):/.test(name)) return true;
  const config = await readJson(join(name, 'config.json'));
  return config !== undefined && 'model_type' in config;
}

export async function openPretrained(name: string, options: OpenPretrainedOptions = {}): Promise<OpenedPretrained> {
  return name.startsWith('gguf:')
    ? openFile(name.slice('gguf:'.length), options)
    : openFolder(name.replace(/^hf:/, ''), options);
}

async function openFolder(folder: string, options: OpenPretrainedOptions): Promise<OpenedPretrained> {
  const isFolder = await stat(folder).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    throw new TabwrightError('config', `There is no model folder "${folder}" on this machine.`, {
      code: 'unknown-model',
      details: { name: folder },
    });
  }
  const source = await openModelFolder(folder);
  try {
    const model = await loadPretrained(source, loading(options));
    return { ...model, ...(await folderVoice(folder)) };
  } finally {
    await source.close();
  }
}

async function openFile(file: string, options: OpenPretrainedOptions): Promise<OpenedPretrained> {
  const { source, metadata } = await openGguf(file);
  try {
    const model = await loadPretrained(source, loading(options));
    return { ...model, ...fileVoice(file, metadata) };
  } finally {
    await source.close();
  }
}

function loading({ signal, contextLength }: OpenPretrainedOptions) {
  return { ...(signal === undefined ? {} : { signal }), ...(contextLength === undefined ? {} : { contextLength }) };
}

const endSchema = z.union([z.int(), z.array(z.int())]);

/** What generation is said to end at; the model's own config where nothing is said of generation. */
async function endTokensOf(folder: string): Promise<readonly number[]> {
  for (const file of ['generation_config.json', 'config.json']) {
    const end = endSchema.safeParse((await readJson(join(folder, file)))?.['eos_token_id']);
    if (end.success) return typeof end.data === 'number' ? [end.data] : end.data;
  }
  return [];
}

async function readJson(file: string): Promise<Record<string, unknown> | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  } catch {
    return undefined; // whoever needs it says what is wrong with it
  }
}
