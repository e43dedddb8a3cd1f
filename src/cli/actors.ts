// From a model's name on the command line to whoever acts in an episode: a chat endpoint, a file of replies, or a model
// of this machine, whose tokens are kept.

import { readFile } from 'node:fs/promises';
import { TabwrightError, type Actor, type ChatRecord, type TokenRecord } from '../core/index.ts';
import { tokenActor } from '../rollout/index.ts';
import { checkKeyChannel } from '../tinker/index.ts';
import { openPolicyModel } from './policy-model.ts';
import { readSecret } from './secrets.ts';

export type OpenActorOptions = {
  /** `openai:<name>`, `openrouter:<name>`, `scripted:<file>`, or what `openPolicyModel` takes. */
  readonly model: string;
  /** For `openai:` and `openrouter:`. Default: theirs. */
  readonly baseUrl?: string;
  readonly maxTokens: number;
  readonly temperature: number;
  /** Gives up opening a model. */
  readonly signal?: AbortSignal;
  readonly onNotice?: (message: string) => void;
};

/** Two arms, because only the second leaves tokens to train on. */
export type OpenedActor = AsyncDisposable &
  (
    | { readonly kind: 'chat'; readonly actor: Actor<ChatRecord>; readonly baseUrl?: string }
    | { readonly kind: 'tokens'; readonly actor: Actor<TokenRecord> }
  );

type Service = { readonly baseUrl: string; readonly key: string };

const SERVICES: ReadonlyMap<string, Service> = new Map([
  ['openai', { baseUrl: 'https://api.openai.com/v1', key: 'OPENAI_API_KEY' }],
  ['openrouter', { baseUrl: 'https://openrouter.ai/api/v1', key: 'OPENROUTER_API_KEY' }],
]);

const NOTHING = { [Symbol.asyncDispose]: async (): Promise<void> => undefined };

export async function openActor(options: OpenActorOptions): Promise<OpenedActor> {
  const { model, baseUrl, maxTokens, temperature } = options;
  const [prefix, name] = splitName(model);
  const service = SERVICES.get(prefix);
  if (service !== undefined) {
    const { createChatActor, createChatEndpoint } = await import('../chat/index.ts'); // loaded by whoever asks for it
    const endpoint = createChatEndpoint({ model: name, ...(await access(service, baseUrl)) });
    return {
      kind: 'chat',
      actor: createChatActor({ endpoint, maxTokens, temperature }),
      baseUrl: baseUrl ?? service.baseUrl,
      ...NOTHING,
    };
  }
  if (baseUrl !== undefined) {
    throw new TabwrightError('config', `--base-url is for openai:<name> and openrouter:<name>, not for ${model}.`, {
      code: 'base-url-without-endpoint',
    });
  }
  if (prefix === 'scripted') {
    const { createScriptedActor, readReplies } = await import('../chat/index.ts');
    return { kind: 'chat', actor: createScriptedActor(model, readReplies(await readScript(name), name)), ...NOTHING };
  }
  const opened = await openPolicyModel(model, {
    signal: options.signal ?? new AbortController().signal,
    onNotice: options.onNotice ?? (() => undefined),
  });
  try {
    const sampler = await opened.openSampler();
    return {
      kind: 'tokens',
      actor: tokenActor({ policy: { sampler, renderer: opened.renderer }, sampling: { temperature } }),
      async [Symbol.asyncDispose]() {
        await sampler[Symbol.asyncDispose]();
        await opened[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

function splitName(model: string): readonly [prefix: string, name: string] {
  const at = model.indexOf(':');
  return at === -1 ? ['', model] : [model.slice(0, at), model.slice(at + 1)];
}

async function access(
  { baseUrl: own, key }: Service,
  given: string | undefined,
): Promise<{ readonly baseUrl: string; readonly apiKey: string }> {
  const apiKey = await readSecret(key);
  if (apiKey !== undefined) {
    const baseUrl = given ?? own;
    checkKeyChannel({ baseUrl, name: key });
    return { baseUrl, apiKey };
  }
  // Servers of one's own seldom want a key, and the client always sends one.
  if (given !== undefined) return { baseUrl: given, apiKey: 'none' };
  throw new TabwrightError('config', `There is no key: set ${key} in the environment or in a file .env here.`, {
    code: 'no-key',
    details: { key },
  });
}

async function readScript(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new TabwrightError('config', `The script ${file} cannot be read: ${(error as Error).message}`, {
      code: 'script-unreadable',
      cause: error,
    });
  }
}
