// A chat model behind an OpenAI-compatible endpoint, through the official client. The client's own retries are the only
// ones; every request has a deadline and a signal. What goes wrong between here and the model is a failure of the
// backend, never an answer. The key stays in here: it is in no message, no log and no config.

import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai';
import { z } from 'zod';
import {
  isAbort,
  TabwrightError,
  type ChatReply,
  type JsonObject,
  type TokenUsage,
  type ToolSpec,
} from '../core/index.ts';
import { withDeadline } from '../util/index.ts';
import type { ChatMessage } from './chat-message.ts';

export type ChatEndpointOptions = {
  /** As the endpoint knows it. */
  readonly model: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Milliseconds that one try may take. Default 60,000. */
  readonly attemptMs?: number;
  /** Milliseconds for all tries of a request together. Default 180,000. */
  readonly deadlineMs?: number;
  /** Tries after the first, by the client, after what may pass (429, 5xx, a broken connection). Default 2. */
  readonly maxRetries?: number;
};

export type ChatRequest = {
  readonly messages: readonly ChatMessage[];
  /** Default none. */
  readonly tools?: readonly ToolSpec[];
  readonly maxTokens: number;
  /** Default: the endpoint's own; some models take no other. */
  readonly temperature?: number;
  /** Sent to endpoints other than OpenAI's own, which does not promise to keep to it. */
  readonly seed?: number;
  /** What the reply has to be: JSON by this schema. Endpoints that cannot hold a model to one refuse it. Default: text. */
  readonly format?: { readonly name: string; readonly schema: JsonObject };
};

export type ChatAnswer = {
  readonly reply: ChatReply;
  readonly stop: 'stop' | 'length';
  readonly usage: TokenUsage | undefined;
  /** US dollars, where the endpoint says what it charged. */
  readonly cost?: number;
  /** The model's words where it declined, in the field that endpoints have for that. */
  readonly refusal?: string;
};

export interface ChatEndpoint {
  readonly model: string;
  readonly baseUrl: string;
  complete(request: ChatRequest, options: { readonly signal: AbortSignal }): Promise<ChatAnswer>;
}

const count = z.number().int().nonnegative();

/** A server's: only what is used, and nothing refused that can be understood. */
const answerSchema = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z
            .array(
              z.object({
                id: z.string().nullish(),
                function: z.object({ name: z.string(), arguments: z.string().nullish() }),
              }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      cost: z.number().nonnegative().nullish().catch(undefined),
    })
    .nullish(),
});

const OPENAI_HOST = 'api.openai.com';
/** Says what a request cost, when it is asked to: https://openrouter.ai/docs/use-cases/usage-accounting */
const OPENROUTER_HOST = 'openrouter.ai';

export function createChatEndpoint(options: ChatEndpointOptions): ChatEndpoint {
  const { model, apiKey, attemptMs = 60_000, deadlineMs = 180_000, maxRetries = 2 } = options;
  const url = checkedUrl(options.baseUrl);
  const isOpenAi = url.host === OPENAI_HOST;
  // Nothing is taken from the environment: whoever made this endpoint has said everything.
  const client = new OpenAI({
    apiKey,
    baseURL: url.href,
    organization: null,
    project: null,
    timeout: attemptMs,
    maxRetries,
    logLevel: 'off',
  });

  return {
    model,
    baseUrl: url.href,
    async complete({ messages, tools = [], maxTokens, temperature, seed, format }, { signal }) {
      const body = {
        model,
        messages: messages.map(toWire),
        ...(isOpenAi ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(seed === undefined || isOpenAi ? {} : { seed }),
        ...(tools.length === 0 ? {} : { tools: tools.map(toolToWire), parallel_tool_calls: false }),
        ...(format === undefined ? {} : { response_format: formatToWire(format) }),
        ...(url.host === OPENROUTER_HOST ? { usage: { include: true } } : {}),
      };
      const onExpiry = (): Error => endpointFailed(model, 'chat-timeout', `no answer within ${deadlineMs} ms`);
      try {
        const answer = await withDeadline({ ms: deadlineMs, signal, onExpiry }, (inner) =>
          client.chat.completions.create(body, { signal: inner }),
        );
        return read(model, answer);
      } catch (error) {
        signal.throwIfAborted();
        throw translated(model, apiKey, error);
      }
    },
  };
}

function checkedUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TabwrightError(
      'config',
      `The endpoint "${text}" is no address; give one like http://localhost:8000/v1.`,
      {
        code: 'bad-endpoint',
      },
    );
  }
  if (url.username !== '' || url.password !== '' || url.search !== '') {
    throw new TabwrightError(
      'config',
      `The endpoint at ${url.host} is given with a name, a password or a query, which would end up in run folders. Put the key into the environment.`,
      { code: 'endpoint-with-secret' },
    );
  }
  return url;
}

function read(model: string, answer: unknown): ChatAnswer {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw endpointFailed(model, 'chat-bad-answer', `its answer has no ${issue?.path.join('.') || 'content'}`);
  }
  const { choices, usage } = parsed.data;
  const [{ message, finish_reason: finish }] = choices as [(typeof choices)[number]];
  if (finish === 'content_filter') throw endpointFailed(model, 'chat-filtered', 'its filter withheld the answer');
  return {
    reply: {
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map((call, index) => ({
        id: call.id || `call_${index}`,
        name: call.function.name,
        arguments: call.function.arguments ?? '',
      })),
    },
    stop: finish === 'length' ? 'length' : 'stop',
    usage: usage ? { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens } : undefined,
    ...(typeof usage?.cost === 'number' ? { cost: usage.cost } : {}),
    ...(message.refusal ? { refusal: message.refusal } : {}),
  };
}

function formatToWire({ name, schema }: NonNullable<ChatRequest['format']>): OpenAI.ResponseFormatJSONSchema {
  return { type: 'json_schema', json_schema: { name, strict: true, schema: { ...schema } } };
}

function toolToWire({ name, description, parameters }: ToolSpec): OpenAI.Chat.ChatCompletionTool {
  return { type: 'function', function: { name, description, parameters: { ...parameters } } };
}

function toWire(message: ChatMessage): OpenAI.Chat.ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user': {
      const { content } = message;
      if (typeof content === 'string') return { role: 'user', content };
      return {
        role: 'user',
        content: content.map((part) =>
          part.type === 'text'
            ? part
            : { type: 'image_url', image_url: { url: `data:${part.mimeType};base64,${part.dataB64}` } },
        ),
      };
    }
    case 'assistant': {
      const calls = message.calls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function' as const,
        function: { name, arguments: given },
      }));
      return { role: 'assistant', content: message.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
  }
  return message satisfies never;
}

function translated(model: string, apiKey: string, error: unknown): unknown {
  if (error instanceof TabwrightError || (isAbort(error) && !(error instanceof APIError))) return error;
  // The client tries again until an answer begins; that it breaks off, or is no JSON, it passes on as it comes.
  if (!(error instanceof APIError)) {
    const reason = error instanceof Error ? error.message.replaceAll(apiKey, '***').slice(0, 500) : 'unknown';
    return endpointFailed(model, 'chat-broken-answer', reason, { cause: error, retryable: true });
  }
  const reason = error.message.replaceAll(apiKey, '***').slice(0, 500);
  if (error instanceof APIConnectionTimeoutError) return endpointFailed(model, 'chat-timeout', reason);
  if (error instanceof APIConnectionError) {
    const cause = (error.cause as Error | undefined)?.message;
    return endpointFailed(model, 'chat-unreachable', cause === undefined ? reason : `${reason} ${cause}`);
  }
  const status = (error as { readonly status?: number }).status ?? 0;
  if (status === 401 || status === 403) {
    return new TabwrightError('config', `The endpoint refused the key for ${model} (status ${status}): ${reason}`, {
      code: 'chat-key-refused',
      details: { model, status },
    });
  }
  if (status === 404) {
    return new TabwrightError('config', `The endpoint knows no ${model} (status 404): ${reason}`, {
      code: 'chat-unknown-model',
      details: { model, status },
    });
  }
  const code = status === 429 ? 'chat-rate-limited' : status >= 500 ? 'chat-server-error' : 'chat-refused';
  return endpointFailed(model, code, reason, { status });
}

type Failure = { readonly status?: number; readonly cause?: unknown; readonly retryable?: boolean };

/** As a rule not to be tried again by whoever calls: the client has. */
function endpointFailed(model: string, code: string, reason: string, failure: Failure = {}): TabwrightError {
  const { status = 0, cause, retryable = false } = failure;
  return new TabwrightError('backend', `The endpoint of ${model} gave no answer: ${reason}`, {
    code,
    retryable,
    details: { model, ...(status === 0 ? {} : { status }) },
    ...(cause === undefined ? {} : { cause }),
  });
}
