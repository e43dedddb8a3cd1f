// From a model's name on the command line to whoever acts in an episode: a chat endpoint, a file of replies, or a model
// of this machine, whose tokens are kept.

import { readFile } from 'node:fs/promises';
import { TabwrightError, type Actor, type ChatRecord, type TokenRecord } from '../core/index.ts';
import { tokenActor } from '../rollout/index.ts';
import { checkKeyChannel } from '../tinker/index.ts';
import { openPolicyModel, roundingWithoutEffect, type PolicyModelOptions } from './policy-model.ts';
import { readSecret } from './secrets.ts';

export type OpenActorOptions = {
  /** `openai:<name>`, `openrouter:<name>`, `scripted:<file>`, or what `openPolicyModel` takes. */
  readonly model: string;
  /** For `openai:`, `openrouter:` and models of a Tinker server. Default: theirs. */
  readonly baseUrl?: string | undefined;
  readonly maxTokens: number;
  readonly temperature: number;
  /** Of models whose tokens are kept. */
  readonly policy?: Pick<PolicyModelOptions, 'settings' | 'tokenizer' | 'resumes' | 'decodeWeights'>;
  /** Gives up opening a model. */
  readonly signal?: AbortSignal;
  readonly onNotice?: (message: string) => void;
};

/** Two arms, because only the second leaves tokens to train on. */
export type OpenedActor = AsyncDisposable & {
  /** What a run's config notes of where the model is. */
  readonly noted: { readonly baseUrl?: string };
  /** Whether a reply may take minutes. */
  readonly isSlow: boolean;
} & (
    | { readonly kind: 'chat'; readonly actor: Actor<ChatRecord> }
    | { readonly kind: 'tokens'; readonly actor: Actor<TokenRecord>; readonly renderer: string }
  );

type Service = { readonly baseUrl: string; readonly key: string };

const OPENAI: Service = { baseUrl: 'https://api.openai.com/v1', key: 'OPENAI_API_KEY' };
const OPENROUTER: Service = { baseUrl: 'https://openrouter.ai/api/v1', key: 'OPENROUTER_API_KEY' };
const SERVICES: ReadonlyMap<string, Service> = new Map([
  ['openai', OPENAI],
  ['openrouter', OPENROUTER],
]);

const NOTHING = { [Symbol.asyncDispose]: async (): Promise<void> => undefined };

export async function openActor(options: OpenActorOptions): Promise<OpenedActor> {
  const { model, baseUrl, maxTokens, temperature } = options;
  const [prefix, name] = splitName(model);
  const service = SERVICES.get(prefix);
  const { decodeWeights = 'f32' } = options.policy ?? {};
  if (decodeWeights !== 'f32' && (service !== undefined || prefix === 'scripted')) {
    throw roundingWithoutEffect(model, 'none that decodes here');
  }
  if (service !== undefined) {
    const { createChatActor, createChatEndpoint } = await import('../chat/index.ts'); // loaded by whoever asks for it
    const endpoint = createChatEndpoint({ model: name, ...(await access(service, baseUrl)) });
    return {
      kind: 'chat',
      actor: createChatActor({ endpoint, maxTokens, temperature }),
      noted: { baseUrl: baseUrl ?? service.baseUrl },
      isSlow: true,
      ...NOTHING,
    };
  }
  if (prefix === 'scripted') {
    if (baseUrl !== undefined) {
      throw new TabwrightError('config', `--base-url is for models of an endpoint or a server, not for ${model}.`, {
        code: 'base-url-without-endpoint',
      });
    }
    const { createScriptedActor, readReplies } = await import('../chat/index.ts');
    const actor = createScriptedActor(model, readReplies(await readScript(name), name));
    return { kind: 'chat', actor, noted: {}, isSlow: false, ...NOTHING };
  }
  const opened = await openPolicyModel(model, {
    ...options.policy,
    baseUrl,
    signal: options.signal ?? new AbortController().signal,
    onNotice: options.onNotice ?? (() => undefined),
  });
  try {
    const sampler = await opened.openSampler();
    return {
      kind: 'tokens',
      actor: tokenActor({ policy: { sampler, renderer: opened.renderer }, sampling: { temperature } }),
      renderer: opened.renderer.name,
      noted: opened.noted,
      isSlow: opened.isSlow,
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

/** Throws where `model` is at a service whose key is missing, as opening it would. */
export async function checkModelKey(model: string, baseUrl: string | undefined): Promise<void> {
  const service = SERVICES.get(splitName(model)[0]);
  if (service !== undefined) await access(service, baseUrl);
}

function splitName(model: string): readonly [prefix: string, name: string] {
  const at = model.indexOf(':');
  return at === -1 ? ['', model] : [model.slice(0, at), model.slice(at + 1)];
}

/** Address and key of a service of chat models, or of `baseUrl` in its place. */
export function chatAccess(service: 'openai' | 'openrouter', baseUrl: string | undefined): ReturnType<typeof access> {
  return access(service === 'openai' ? OPENAI : OPENROUTER, baseUrl);
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
