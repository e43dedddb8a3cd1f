// Models as `tabwright serve` offers them: an engine in a process of its own, and the words that go with it. Which names
// clients may use beside a model's own is said here too.

import { TabwrightError } from '../core/index.ts';
import { exportAdapter, type DecodeWeights } from '../engine/index.ts';
import type { ServedModel } from '../server/index.ts';
import {
  chatFormat,
  createChatRenderer,
  createNanoChat,
  createTemplateFormat,
  KNOWN_MODELS,
  modelFamily,
  type ChatFormat,
} from '../tokens/index.ts';
import { openEngineProcess, type ProcessBackend } from './engine-process.ts';
import type { ResolveModelOptions } from './model-source.ts';
import { findPretrained, openVoice, type Voice } from './open-pretrained.ts';

export type ServedModelsOptions = {
  /** As `--model` has them, separated by commas. */
  readonly models: string;
  /** As `--model-name` has them: `alias` for the first model or `alias=model`, separated by commas. */
  readonly aliases: string | undefined;
  /** Threads of the engine. Default all. */
  readonly threads: number | undefined;
  /** Longest sequence of pretrained models. Default the engine's. */
  readonly contextLength: number | undefined;
  /** How samplers hold the weights of pretrained models. Default `f32`. */
  readonly decodeWeights?: DecodeWeights | undefined;
  /** How pretrained models speak. Default as the known model of that name or of an alias, else by their own template. */
  readonly chatFormat: string | undefined;
  readonly signal: AbortSignal;
  /** Told how far a model of the hub has come. */
  readonly onProgress?: ResolveModelOptions['onProgress'];
  /** Told of what is not there but does not keep a model from being served. */
  readonly warn: (message: string) => void;
};

/** A model that is served from a process of its own, which is to be disposed of when the server is down. */
export type OpenedModel = ServedModel & { readonly backend: ProcessBackend };

export async function openServedModels(options: ServedModelsOptions): Promise<readonly OpenedModel[]> {
  const names = listOf(options.models);
  const aliases = readAliases(names, options.aliases);
  const opened: OpenedModel[] = [];
  try {
    for (const name of names) opened.push(await openServed(name, aliases.get(name) ?? [], options));
  } catch (error) {
    for (const { backend } of opened) await backend[Symbol.asyncDispose]();
    throw error;
  }
  return opened;
}

async function openServed(
  name: string,
  aliases: readonly string[],
  { threads, contextLength, decodeWeights, chatFormat: asked, signal, onProgress, warn }: ServedModelsOptions,
): Promise<OpenedModel> {
  const files = await findPretrained(name, { signal, ...(onProgress === undefined ? {} : { onProgress }) });
  const open = async () => {
    const backend = await openEngineProcess({ model: name, files, threads, contextLength, decodeWeights }, signal);
    return { backend, architecture: backend.architecture, exportAdapter: toPeft };
  };
  if (files === undefined) {
    const chat = createNanoChat();
    const words = { endTokens: chat.stopTokens, tokenizer: chat.tokenizer, chat };
    return { ...words, names: [name, ...aliases], ...(await open()) };
  }
  const hubName = files.kind === 'folder' ? files.hubName : undefined;
  const names = [...new Set([name, ...(hubName === undefined ? [] : [hubName]), ...aliases])];
  const voice = await openVoice(files);
  const { tokenizer, endTokens } = voice;
  const format = formatOf(names, voice, { asked, warn });
  return {
    names,
    endTokens,
    tokenizer,
    ...(format === undefined ? {} : { chat: createChatRenderer({ format, tokenizer }) }),
    ...(files.kind === 'folder' ? { tokenizerId: hubName ?? files.path } : {}),
    ...(await open()),
  };
}

/** As it is asked for, as the known model of one of its names speaks, or by its own template; without any, chat is refused. */
function formatOf(
  names: readonly string[],
  { template, tokenizer }: Voice,
  { asked, warn }: { readonly asked: string | undefined; readonly warn: (message: string) => void },
): ChatFormat | undefined {
  const known = asked ?? knownFormat(names);
  if (known !== undefined) return chatFormat(known);
  if (template === undefined) return undefined;
  try {
    return createTemplateFormat({ name: names[0], ...template, tokenizer });
  } catch (error) {
    if (!(error instanceof TabwrightError)) throw error;
    warn(`${names[0]} is served without chat, unless --chat-format is given. ${error.message}`);
    return undefined;
  }
}

/** The format of the first name that is a known model's. */
function knownFormat(names: readonly string[]): string | undefined {
  for (const name of names) {
    const bare = name.replace(/^hf:/, '');
    if (KNOWN_MODELS.includes(bare)) return modelFamily(bare).format;
  }
  return undefined;
}

const toPeft: NonNullable<ServedModel['exportAdapter']> = (from, path, baseModel) =>
  exportAdapter({ from, path, baseModel });

/** By model, the names that clients may use for it beside its own. */
export function readAliases(
  models: readonly string[],
  text: string | undefined,
): ReadonlyMap<string, readonly string[]> {
  const aliases = new Map<string, string[]>();
  for (const entry of listOf(text ?? '')) {
    const [alias, model = models[0]] = entry.split('=', 2);
    if (!models.includes(model)) {
      throw new TabwrightError(
        'config',
        `--model-name ${entry}: ${model} is not among the models of --model, ${models.join(', ')}.`,
        { code: 'bad-option' },
      );
    }
    aliases.set(model, [...(aliases.get(model) ?? []), alias]);
  }
  return aliases;
}

function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
