// Pretrained models from folders and files of this machine: weights, tokenizer and the tokens that end a text. What they
// are is said by the files; how they speak is `src/tokens`.

import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { CallOptions, Tokenizer } from '../core/index.ts';
import { loadPretrained, openGguf, openModelFolder, type GgufMetadata, type PretrainedModel } from '../engine/index.ts';
import { createGgufTokenizer, ggufEndTokens, loadTokenizer, type TemplateFormatOptions } from '../tokens/index.ts';
import { resolveModel, type ModelFiles, type ResolveModelOptions } from './model-source.ts';

export type OpenedPretrained = PretrainedModel & { readonly tokenizer: Tokenizer };

export type Template = Pick<TemplateFormatOptions, 'template' | 'toolTemplate' | 'bosToken' | 'eosToken'>;

/** How a model speaks, which needs none of its weights. */
export type Voice = {
  readonly tokenizer: Tokenizer;
  readonly endTokens: readonly number[];
  /** Its own chat template, for models without a format here, and the tokens that it may name. */
  readonly template: Template | undefined;
};

/**
 * Where a pretrained model lies: `hf:` with a folder or with a name of the hub, `gguf:` with a file, a folder in Hugging
 * Face's layout. Undefined for everything else.
 */
export async function findPretrained(name: string, options: ResolveModelOptions = {}): Promise<ModelFiles | undefined> {
  const folder = name.replace(/^hf:/, '');
  if (name.startsWith('hf:') && (await isFolder(folder))) return { kind: 'folder', path: resolve(folder) };
  if (/^(hf|gguf):/.test(name)) return resolveModel(name, options);
  const config = await readJson(join(name, 'config.json'));
  return config !== undefined && 'model_type' in config ? { kind: 'folder', path: resolve(name) } : undefined;
}

export async function openVoice({ kind, path }: ModelFiles): Promise<Voice> {
  if (kind === 'folder') return folderVoice(path);
  const { source, metadata } = await openGguf(path);
  await source.close();
  return fileVoice(path, metadata);
}

async function folderVoice(folder: string): Promise<Voice> {
  const tokenizer = await loadTokenizer(folder);
  return { tokenizer, endTokens: await endTokensOf(folder), template: await folderTemplate(folder) };
}

function fileVoice(file: string, metadata: GgufMetadata): Voice {
  const value = (key: string): unknown => metadata.get(`tokenizer.${key}`)?.value;
  const tokenizer = createGgufTokenizer({ name: file, metadata });
  const tokens = value('ggml.tokens') as readonly string[]; // the tokenizer has looked
  const named = (key: string): unknown => tokens[value(`ggml.${key}_token_id`) as number];
  return {
    tokenizer,
    endTokens: ggufEndTokens(metadata),
    template: templateOf({
      chat_template: value('chat_template'),
      bos_token: named('bos'),
      eos_token: named('eos'),
    }),
  };
}

export type OpenPretrainedOptions = CallOptions & {
  /** Longest sequence. Default the engine's. */
  readonly contextLength?: number | undefined;
  /** Its tokenizer, where it has been read: a large one takes seconds. Default read here. */
  readonly tokenizer?: Tokenizer;
};

export async function openPretrained(
  { kind, path }: ModelFiles,
  options: OpenPretrainedOptions = {},
): Promise<OpenedPretrained> {
  if (kind === 'folder') {
    const source = await openModelFolder(path);
    try {
      const tokenizer = options.tokenizer ?? (await loadTokenizer(path));
      return { ...(await loadPretrained(source, loading(options))), tokenizer };
    } finally {
      await source.close();
    }
  }
  const { source, metadata } = await openGguf(path);
  try {
    const tokenizer = options.tokenizer ?? fileVoice(path, metadata).tokenizer;
    return { ...(await loadPretrained(source, loading(options))), tokenizer };
  } finally {
    await source.close();
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
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

async function folderTemplate(folder: string): Promise<Template | undefined> {
  const config = (await readJson(join(folder, 'tokenizer_config.json'))) ?? {};
  const own = await readFile(join(folder, 'chat_template.jinja'), 'utf8').catch(() => undefined); // older models: in the config
  return templateOf(own === undefined ? config : { ...config, chat_template: own });
}

export function templateOf(config: Readonly<Record<string, unknown>>): Template | undefined {
  const text = (key: string): string | undefined => {
    const value = config[key];
    if (typeof value === 'string') return value;
    const content = (value as { content?: unknown } | null | undefined)?.content;
    return typeof content === 'string' ? content : undefined;
  };
  const [bosToken, eosToken] = ['bos_token', 'eos_token'].map(text);
  const named = namedTemplates(config['chat_template']);
  const template = named.get('default');
  if (template === undefined) return undefined;
  const toolTemplate = named.get('tool_use');
  return {
    template,
    ...(toolTemplate === undefined ? {} : { toolTemplate }),
    ...(bosToken === undefined ? {} : { bosToken }),
    ...(eosToken === undefined ? {} : { eosToken }),
  };
}

const namedSchema = z.array(z.looseObject({ name: z.string(), template: z.string() }));

/** A template, or several with names, of which `default` and, for conversations with tools, `tool_use` are meant for all. */
function namedTemplates(value: unknown): ReadonlyMap<string, string> {
  if (typeof value === 'string') return new Map([['default', value]]);
  const several = namedSchema.safeParse(value);
  return new Map(several.success ? several.data.map(({ name, template }) => [name, template]) : []);
}

async function readJson(file: string): Promise<Record<string, unknown> | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  } catch {
    return undefined; // whoever needs it says what is wrong with it
  }
}
