// Models as `tabwright serve` offers them: an engine in a process of its own, and the words that go with it. Which names
// clients may use beside a model's own is said here too.

import { resolve } from 'node:path';
import { TabwrightError } from '../core/index.ts';
import { exportAdapter } from '../engine/index.ts';
import type { ServedModel } from '../server/index.ts';
import { chatFormat, createChatRenderer, createNanoChat, KNOWN_MODELS, modelFamily } from '../tokens/index.ts';
import { openEngineProcess } from './engine-process.ts';
import { isPretrained, openVoice } from './open-pretrained.ts';

export type ServedModelsOptions = {
  /** As `--model` has them, separated by commas. */
  readonly models: string;
  /** As `--model-name` has them: `alias` for the first model or `alias=model`, separated by commas. */
  readonly aliases: string | undefined;
  /** Threads of the engine. Default all. */
  readonly threads: number | undefined;
  /** Longest sequence of pretrained models. Default the engine's. */
  readonly contextLength: number | undefined;
  /** How pretrained models speak. Default what the model of that name, or of an alias, is known to. */
  readonly chatFormat: string | undefined;
  readonly signal: AbortSignal;
};

/** Dispose of the backends when the server is down. */
export async function openServedModels(options: ServedModelsOptions): Promise<readonly ServedModel[]> {
  const names = listOf(options.models);
  const aliases = readAliases(names, options.aliases);
  const opened: ServedModel[] = [];
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
  { threads, contextLength, chatFormat: chatFormatName, signal }: ServedModelsOptions,
): Promise<ServedModel> {
  const backend = await openEngineProcess({ model: name, threads, contextLength }, signal);
  const names = [name, ...aliases];
  const common = { names, backend, architecture: backend.architecture, exportAdapter: toPeft };
  if (!(await isPretrained(name))) {
    const chat = createNanoChat();
    return { ...common, endTokens: chat.stopTokens, tokenizer: chat.tokenizer, chat };
  }
  const { tokenizer, endTokens, folder } = await openVoice(name);
  const format = chatFormatName ?? knownFormat(names);
  return {
    ...common,
    endTokens,
    tokenizer,
    ...(format === undefined ? {} : { chat: createChatRenderer({ format: chatFormat(format), tokenizer }) }),
    ...(folder === undefined ? {} : { tokenizerId: resolve(folder) }),
  };
}

/** The format of the first name that is a known model's; none where there is none, and chat is then refused. */
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
