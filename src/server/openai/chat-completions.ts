// POST /v1/chat/completions: messages through the model's own renderer, samples, and the reply read back. Streamed
// replies are read anew as they grow, because where a call begins only the renderer knows.

import { randomUUID } from 'node:crypto';
import type { ChatRenderer, SampledSequence, ToolSpec } from '../../core/index.ts';
import { contentText } from '../../core/index.ts';
import { linkedController } from '../../util/index.ts';
import { userFault } from '../tinker/refusals.ts';
import type { SamplerSource, SamplingService } from '../tinker/sampling-service.ts';
import { createEventStream, type EventStream } from './event-stream.ts';
import { messagesOf, replyOf, toolsOf } from './messages.ts';
import {
  runSamples,
  saidTokens,
  sourceOf,
  stopTextsOf,
  tokenLogprob,
  usageOf,
  type Ask,
  type Serving,
} from './run-samples.ts';
import type { ChatRequest } from './schemas.ts';
import { beforeCall, cutAtStop, sayable } from './token-text.ts';

export type ChatTurn = {
  readonly request: ChatRequest;
  readonly source: SamplerSource;
  readonly chat: ChatRenderer;
  readonly tools: readonly ToolSpec[];
  readonly ask: Ask;
};

export function readChat(sampling: SamplingService, request: ChatRequest): ChatTurn {
  const source = sourceOf(sampling, request.model);
  const { chat, names } = source.served;
  if (chat === undefined) {
    throw userFault(`${names[0]} has no chat format here; use /v1/completions.`);
  }
  const tools = toolsOf(request);
  const prompt = chat.render({ messages: messagesOf(request.messages), ...(tools.length > 0 ? { tools } : {}) });
  const ask: Ask = {
    prompt,
    count: request.n ?? 1,
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    temperature: request.temperature,
    topP: request.top_p,
    topK: request.top_k,
    seed: request.seed,
    topLogprobs: request.logprobs ? (request.top_logprobs ?? 0) : 0,
    stopTokens: chat.stopTokens,
    stopTexts: stopTextsOf(request.stop),
  };
  return { request, source, chat, tools, ask };
}

type Read = { readonly message: object; readonly finish: string };

/** The reply of a sample, cut where a stop text begins. */
function readReply({ chat, tools, ask }: ChatTurn, { tokens, stop }: SampledSequence): Read {
  const { message } = chat.parse(tokens, tools);
  const text = contentText(message.content) ?? '';
  const calls = message.toolCalls?.length ?? 0;
  return {
    message: replyOf(
      { ...message, content: cutAtStop(text, ask.stopTexts) },
      () => `call_${randomUUID().replaceAll('-', '')}`,
    ),
    finish: calls > 0 ? 'tool_calls' : stop,
  };
}

function logprobsOf({ request, chat, ask, source }: ChatTurn, sequence: SampledSequence): object | null {
  if (request.logprobs !== true) return null;
  const said = saidTokens(sequence, [...source.served.endTokens, ...ask.stopTokens]);
  const content = said.map((token, i) =>
    tokenLogprob(chat.tokenizer, { token, logprob: sequence.logprobs[i] }, sequence.topLogprobs?.[i] ?? []),
  );
  return { content, refusal: null };
}

export async function completeChat(turn: ChatTurn, serving: Serving): Promise<object> {
  const { request, source, ask } = turn;
  const sampled = await runSamples({ ...serving, source, ask });
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    choices: sampled.sequences.map((sequence, index) => {
      const { message, finish } = readReply(turn, sequence);
      return { index, message, logprobs: logprobsOf(turn, sequence), finish_reason: finish };
    }),
    usage: usageOf([sampled]),
  };
}

/** How often a growing reply is read at most. */
const READ_EVERY_MS = 25;

/** Starts at once; the body is read by the client. */
export function streamChat(turn: ChatTurn, serving: Serving): EventStream {
  const { request, source, ask, chat, tools } = turn;
  const { controller: leaving, unlink } = linkedController(serving.signal);
  const stream = createEventStream(() => leaving.abort(new DOMException('The caller has hung up.', 'AbortError')));
  const base = {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  const write = (index: number, delta: object, finish: string | null = null, logprobs: object | null = null): void => {
    stream.write({ ...base, choices: [{ index, delta, logprobs, finish_reason: finish }] });
  };
  const samples = Array.from({ length: ask.count }, () => ({
    tokens: [] as number[],
    said: '',
    thought: '',
    readAt: 0,
  }));

  /** What has been said since it was last read. Text that may turn out to be a call waits for the end. */
  const grow = (index: number): void => {
    const sample = samples[index];
    const now = performance.now();
    if (now - sample.readAt < READ_EVERY_MS) return;
    sample.readAt = now;
    const { message } = chat.parse(sample.tokens, tools);
    const thinking = message.thinking ?? '';
    if (thinking.length > sample.thought.length && thinking.startsWith(sample.thought)) {
      const more = sayable(thinking, []).slice(sample.thought.length);
      if (more !== '') write(index, { reasoning_content: more });
      sample.thought += more;
    }
    const content = contentText(message.content) ?? '';
    const whole = sayable(content, ask.stopTexts);
    const ready = tools.length > 0 ? beforeCall(whole) : whole;
    if (ready.length > sample.said.length && ready.startsWith(sample.said)) {
      write(index, { content: ready.slice(sample.said.length) });
      sample.said = ready;
    }
  };
  const finish = (index: number, sequence: SampledSequence): void => {
    const sample = samples[index];
    const { message, finish: reason } = readReply(turn, sequence);
    const { content, reasoning_content, tool_calls } = message as {
      content: string | null;
      reasoning_content?: string;
      tool_calls?: readonly object[];
    };
    const rest = (content ?? '').startsWith(sample.said) ? (content ?? '').slice(sample.said.length) : '';
    const thought = (reasoning_content ?? '').slice(sample.thought.length);
    if (thought !== '') write(index, { reasoning_content: thought });
    const logprobs = logprobsOf(turn, sequence);
    if (rest !== '' || logprobs !== null) write(index, { content: rest }, null, logprobs);
    if (tool_calls !== undefined) write(index, { tool_calls: tool_calls.map((call, i) => ({ index: i, ...call })) });
    write(index, {}, reason);
  };

  for (let i = 0; i < ask.count; i++) write(i, { role: 'assistant', content: '' });
  const onToken = (index: number, token: number): void => {
    samples[index].tokens.push(token);
    grow(index);
  };
  runSamples({ ...serving, signal: leaving.signal, source, ask, onToken })
    .then((sampled) => {
      sampled.sequences.forEach((sequence, index) => finish(index, sequence));
      if (request.stream_options?.include_usage) {
        stream.write({ ...base, choices: [], usage: usageOf([sampled]) });
      }
    })
    .catch((error: unknown) => stream.fail(error))
    .finally(() => {
      unlink();
      stream.close();
    });
  return stream;
}
