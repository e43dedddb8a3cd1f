// OpenAI's API asked by its official client: chat with tools, completions, streams, log-probabilities, refusals. What the
// model says is given; how it is rendered, sampled by id, cut and read back is real.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type {
  AssistantMessage,
  Backend,
  SampledSequence,
  SampleOptions,
  SampleRequest,
  ScoringSampler,
} from '../../src/core/index.ts';
import { serveTinker, type TinkerServer } from '../../src/server/index.ts';
import { sleep } from '../../src/util/index.ts';
import { chat, END, tokenizer } from './tiny-model.ts';

/** Tokens of a prompt that the sampler says to have read before. */
const REUSED = 3;
/** What is said next, as ids, and how long each takes; and what was asked. */
let says: readonly number[];
let paceMs = 0;
let asked: SampleRequest[];
let folder: string;
let server: TinkerServer;
let openai: OpenAI;

const sampler: ScoringSampler = {
  version: 0,
  async sample(request, { onPrompt, onToken, stopWhen }: SampleOptions = {}) {
    asked.push(request);
    onPrompt?.(REUSED);
    const draw = async (sample: number): Promise<SampledSequence> => {
      const tokens: number[] = [];
      let stop: 'stop' | 'length' = 'length';
      for (const token of says.slice(0, request.params.maxTokens)) {
        if (paceMs > 0) await sleep(paceMs, new AbortController().signal);
        tokens.push(token);
        onToken?.(sample, token, -0.5);
        if (request.params.stop?.includes(token) || stopWhen?.(tokens)) {
          stop = 'stop';
          break;
        }
      }
      const top = tokens.map((token) => [
        { token, logprob: -0.5 },
        { token: 65, logprob: -2 },
      ]);
      return {
        tokens,
        logprobs: tokens.map(() => -0.5),
        stop,
        ...((request.params.topLogprobs ?? 0) > 0 ? { topLogprobs: top } : {}),
      };
    };
    return Promise.all(Array.from({ length: request.numSamples }, (_, sample) => draw(sample)));
  },
  computeLogprobs: (tokens) => Promise.resolve(tokens.map(() => NaN)),
  scorePrompt: (tokens) => Promise.resolve({ logprobs: tokens.map(() => NaN) }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
const backend: Backend = {
  modelName: 'scripted',
  vocabSize: 300,
  contextLength: 4096,
  createTrainer: () => Promise.reject(new Error('nothing is trained here')),
  openSampler: () => Promise.resolve(sampler),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-openai-'));
  server = await serveTinker({
    models: [{ names: ['scripted'], backend, endTokens: [END], tokenizer, chat }],
    folder,
    port: 0,
    onFailure: (error) => {
      throw error;
    },
  });
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'tml-local', maxRetries: 0 });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked = [];
  paceMs = 0;
});

const USER = [{ role: 'user' as const, content: 'What is on the page?' }];
const CLICK = {
  type: 'function' as const,
  function: {
    name: 'click',
    description: 'Clicks a control.',
    parameters: { type: 'object', properties: { target: { type: 'integer' } }, required: ['target'] },
  },
};
const TOOLS = [{ name: 'click', description: 'Clicks a control.', parameters: CLICK.function.parameters }];

/** The ids of this reply in the model's own format. */
function reply(message: Partial<AssistantMessage>, tools = false): readonly number[] {
  const conversation = { messages: USER, ...(tools ? { tools: TOOLS } : {}) };
  return chat.renderTurn(conversation, { role: 'assistant', content: '', ...message });
}

test('the models are listed', async () => {
  expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['scripted']);
});

test("a chat completion: the prompt is the renderer's, the reply is read back, tokens are counted", async () => {
  says = reply({ content: 'A button, and “więcej”.' });
  const completion = await openai.chat.completions.create({
    model: 'scripted',
    messages: USER,
    temperature: 0,
    seed: 5,
  });
  expect(completion.choices).toEqual([
    {
      index: 0,
      message: expect.objectContaining({ role: 'assistant', content: 'A button, and “więcej”.' }) as object,
      logprobs: null,
      finish_reason: 'stop',
    },
  ]);
  expect(asked[0].prompt).toEqual(chat.render({ messages: USER }));
  expect(asked[0].params).toMatchObject({ temperature: 0, seed: 5, stop: [END, ...chat.stopTokens.slice(1)] });
  expect(completion.usage).toEqual({
    prompt_tokens: asked[0].prompt.length,
    completion_tokens: says.length,
    total_tokens: asked[0].prompt.length + says.length,
    prompt_tokens_details: { cached_tokens: REUSED },
  });
});

test('a tool is called, its result goes back, and the conversation renders as it should', async () => {
  says = reply({ toolCalls: [{ name: 'click', arguments: '{"target": 3}' }] }, true);
  const first = await openai.chat.completions.create({ model: 'scripted', messages: USER, tools: [CLICK] });
  const { message, finish_reason } = first.choices[0];
  expect(finish_reason).toBe('tool_calls');
  const [call] = message.tool_calls as {
    id: string;
    type: 'function';
    function: { name: string; arguments: string };
  }[];
  expect([call.type, call.function.name, JSON.parse(call.function.arguments)]).toEqual([
    'function',
    'click',
    { target: 3 },
  ]);
  says = reply({ content: 'Done.' }, true);
  const messages = [...USER, message, { role: 'tool' as const, tool_call_id: call.id, content: 'clicked' }];
  await openai.chat.completions.create({ model: 'scripted', messages, tools: [CLICK] });
  const shown = tokenizer.decode(asked[1].prompt);
  expect(shown).toContain('<tool_call>\n{"name": "click", "arguments": {"target": 3}}\n</tool_call>');
  expect(shown).toContain('<tool_response>\nclicked\n</tool_response>');
});

test('a stream gives the same reply piece by piece, and its usage where that is asked for', async () => {
  says = reply({ thinking: 'Let me look.', content: 'A button, and “więcej”.' });
  const stream = await openai.chat.completions.create({
    model: 'scripted',
    messages: USER,
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  let thinking = '';
  let finish: string | null = null;
  let tokens = 0;
  let cached = 0;
  for await (const { choices, usage } of stream) {
    const delta = choices[0]?.delta as { content?: string; reasoning_content?: string } | undefined;
    content += delta?.content ?? '';
    thinking += delta?.reasoning_content ?? '';
    finish = choices[0]?.finish_reason ?? finish;
    tokens = usage?.completion_tokens ?? tokens;
    cached = usage?.prompt_tokens_details?.cached_tokens ?? cached;
  }
  expect([content, thinking.trim(), finish, tokens, cached]).toEqual([
    'A button, and “więcej”.',
    'Let me look.',
    'stop',
    says.length,
    REUSED,
  ]);
});

test('a call in a stream arrives whole, and none of its text before it', async () => {
  says = reply({ content: 'I click.', toolCalls: [{ name: 'click', arguments: '{"target": 3}' }] }, true);
  const stream = openai.chat.completions.stream({ model: 'scripted', messages: USER, tools: [CLICK] });
  const { choices } = await stream.finalChatCompletion();
  const [call] = choices[0].message.tool_calls as { function: { name: string; arguments: string } }[];
  expect([choices[0].message.content?.trim(), choices[0].finish_reason]).toEqual(['I click.', 'tool_calls']);
  expect([call.function.name, JSON.parse(call.function.arguments)]).toEqual(['click', { target: 3 }]);
});

// Slower than the server reads a growing reply, so that it is read while it grows.
test.each<[string, Partial<AssistantMessage>]>([
  ['a call after text', { content: 'Let me click.', toolCalls: [{ name: 'click', arguments: '{"target": 3}' }] }],
  ['text that only looks like a call', { content: 'So 1 < 2, and [3] {4}.' }],
])('%s: what streams is what is said without a stream, and nothing of a call', async (_, message) => {
  says = reply(message, true);
  const body = { model: 'scripted', messages: USER, tools: [CLICK] };
  const whole = (await openai.chat.completions.create(body)).choices[0].message;
  paceMs = 30;
  const pieces: string[] = [];
  const calls: string[] = [];
  for await (const { choices } of await openai.chat.completions.create({ ...body, stream: true })) {
    if (choices[0].delta.content) pieces.push(choices[0].delta.content);
    for (const { function: called } of choices[0].delta.tool_calls ?? []) calls.push(called!.arguments!);
  }
  expect(pieces.join('')).toBe(whole.content);
  expect(pieces.length).toBeGreaterThan(3);
  expect(calls).toEqual((message.toolCalls ?? []).map(({ arguments: text }) => text));
});

test('samples that do not come fail when their time is up, streamed or not', async () => {
  const never: Backend = {
    ...backend,
    openSampler: () => Promise.resolve({ ...sampler, sample: () => new Promise(() => {}) }),
  };
  const other = await mkdtemp(join(tmpdir(), 'tabwright-openai-'));
  const failures: unknown[] = [];
  await using brief = await serveTinker({
    models: [{ names: ['scripted'], backend: never, endTokens: [END], tokenizer, chat }],
    folder: other,
    port: 0,
    limits: { jobMs: 300 },
    onFailure: (error) => failures.push(error),
  });
  const client = new OpenAI({ baseURL: `${brief.url}/v1`, apiKey: 'tml-local', maxRetries: 0 });
  const body = { model: 'scripted', messages: USER };
  const late = { status: 500, message: expect.stringMatching(/did not come within 0.3 s/) as string };
  expect(await failureOf(client.chat.completions.create(body))).toMatchObject(late);
  expect(await failureOf(client.completions.create({ model: 'scripted', prompt: 'x' }))).toMatchObject(late);
  const read = async (): Promise<void> => {
    for await (const _ of await client.chat.completions.create({ ...body, stream: true }));
  };
  await expect(read()).rejects.toThrow(/did not come within 0.3 s/);
  expect(failures).toHaveLength(2);
  await rm(other, { recursive: true, force: true });
});

test('log-probabilities: one for each token that was said, with the likeliest beside it', async () => {
  says = reply({ content: 'ja' });
  const { choices } = await openai.chat.completions.create({
    model: 'scripted',
    messages: USER,
    logprobs: true,
    top_logprobs: 2,
    n: 2,
  });
  expect(choices).toHaveLength(2);
  const shown = choices[1].logprobs!.content!;
  expect(shown.map(({ token }) => token).join('')).toMatch(/ja$/);
  expect(shown.at(-1)).toMatchObject({
    token: 'a',
    logprob: -0.5,
    bytes: [97],
    top_logprobs: [{ token: 'a' }, { token: 'A', logprob: -2 }],
  });
});

test('a stop text ends the reply and is not part of it', async () => {
  says = reply({ content: 'one two three' });
  const { choices } = await openai.chat.completions.create({ model: 'scripted', messages: USER, stop: 'two' });
  expect([choices[0].message.content, choices[0].finish_reason]).toEqual(['one ', 'stop']);
});

test('completions: text, ids, several prompts, a stop, a limit, log-probabilities', async () => {
  says = [...tokenizer.encode('warm and sunny'), END];
  const one = await openai.completions.create({ model: 'scripted', prompt: 'Today is ', max_tokens: 30, logprobs: 1 });
  expect(one.choices[0]).toMatchObject({ text: 'warm and sunny', finish_reason: 'stop' });
  expect(one.choices[0].logprobs!.tokens!.join('')).toBe('warm and sunny');
  expect(one.choices[0].logprobs!.text_offset!.slice(0, 3)).toEqual([0, 1, 2]);
  expect(asked[0].prompt).toEqual(tokenizer.encode('Today is '));
  const two = await openai.completions.create({
    model: 'scripted',
    prompt: [[1, 2], [3]],
    max_tokens: 4,
    stop: ['rm'],
  });
  expect(two.choices.map(({ index, text }) => [index, text])).toEqual([
    [0, 'wa'],
    [1, 'wa'],
  ]);
  expect(two.usage).toMatchObject({ prompt_tokens: 3, prompt_tokens_details: { cached_tokens: 2 * REUSED } });
  const short = await openai.completions.create({ model: 'scripted', prompt: 'x', max_tokens: 4 });
  expect(short.choices[0]).toMatchObject({ text: 'warm', finish_reason: 'length' });
});

test('a completion streams, and holds back what may become its stop', async () => {
  says = [...tokenizer.encode('warm – and EN'), ...tokenizer.encode('Dless END'), END];
  const stream = await openai.completions.create({
    model: 'scripted',
    prompt: 'x',
    max_tokens: 99,
    stop: 'END',
    stream: true,
  });
  const pieces: string[] = [];
  for await (const { choices } of stream) pieces.push(choices[0].text);
  expect(pieces.join('')).toBe('warm – and ');
  expect(pieces.length).toBeGreaterThan(5);
  expect(pieces.some((piece) => piece.includes('\ufffd'))).toBe(false);
});

async function failureOf(call: PromiseLike<unknown>): Promise<{ status: unknown; message: string }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof APIError) return { status: error.status as unknown, message: error.message };
    throw error;
  }
  throw new Error('the call did not fail');
}

test.each<[object, RegExp]>([
  [{ frequency_penalty: 0.5 }, /frequency_penalty/],
  [{ logit_bias: { '5': 10 } }, /logit_bias/],
  [{ tool_choice: 'required', tools: [CLICK] }, /tool_choice/],
  [{ response_format: { type: 'json_object' } }, /response_format/],
  [{ min_p: 0.1 }, /min_p/],
  [{ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] }, /messages/],
  [{ model: 'gpt-17' }, /"gpt-17" is not served here; served are scripted/],
  [{ max_tokens: 5_000 }, /maximum context length is 4096/],
])('a request with %j is refused and says why', async (options, message) => {
  const body = { model: 'scripted', messages: USER, ...options } as OpenAI.ChatCompletionCreateParamsNonStreaming;
  const failure = await failureOf(openai.chat.completions.create(body));
  expect([failure.status, message.test(failure.message)], failure.message).toEqual([400, true]);
  expect(asked).toEqual([]);
});

test('a path that is not served, in the shape that the client reads', async () => {
  const failure = await failureOf(openai.get('/assistants'));
  expect(failure).toMatchObject({ status: 404, message: expect.stringMatching(/not served here/) as string });
});
