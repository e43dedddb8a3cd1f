// The official client against a server that speaks the wire: what is sent, what comes back, and how every kind of
// failure is told.

import { describe, expect, it, vi } from 'vitest';
import type { ServerResponse } from 'node:http';
import { createChatEndpoint, type ChatEndpointOptions } from './chat-endpoint.ts';
import { callOf, sendJson, serveChat, type Answer } from './fixtures/chat-server.ts';

const KEY = 'sk-secret-of-the-test';
const { signal } = new AbortController();
const hello = { messages: [{ role: 'user', content: 'Hello' }], maxTokens: 50 } as const;

async function ask(answer: (index: number) => Answer, options: Partial<ChatEndpointOptions> = {}) {
  await using server = await serveChat(answer);
  const endpoint = createChatEndpoint({ model: 'm', baseUrl: server.url, apiKey: KEY, maxRetries: 0, ...options });
  const outcome = await endpoint.complete(hello, { signal }).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error: error as { code: string; boundary: string; message: string } }),
  );
  return { ...outcome, asked: server.asked };
}

const failing =
  (status: number, message: string): (() => Answer) =>
  () =>
  (response) =>
    sendJson(response, status, { error: { message, type: 'error', code: null } });

describe('createChatEndpoint', () => {
  it('sends key, model, messages and limits, and nothing that was not asked for', async () => {
    const { asked, value } = await ask(() => ({ content: 'Good day' }));
    expect(asked).toEqual([
      {
        key: `Bearer ${KEY}`,
        body: { model: 'm', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
      },
    ]);
    expect(value).toEqual({
      reply: { text: 'Good day', calls: [] },
      stop: 'stop',
      usage: { promptTokens: 11, completionTokens: 7 },
    });
  });

  it('sends tools, images and earlier calls in the shape of the wire', async () => {
    await using server = await serveChat(() => callOf('look', { at: 1 }, 'call_9'));
    const endpoint = createChatEndpoint({ model: 'm', baseUrl: server.url, apiKey: KEY });
    const { reply } = await endpoint.complete(
      {
        messages: [
          { role: 'system', text: 'S' },
          { role: 'user', content: [{ type: 'image', mimeType: 'image/png', dataB64: 'AAAA' }] },
          { role: 'assistant', text: '', calls: [{ id: 'call_1', name: 'look', arguments: '{}' }] },
          { role: 'tool', callId: 'call_1', text: 'seen' },
        ],
        tools: [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }],
        maxTokens: 5,
        temperature: 0.5,
        seed: 3,
      },
      { signal },
    );
    expect(reply).toEqual({ text: '', calls: [{ id: 'call_9', name: 'look', arguments: '{"at":1}' }] });
    expect(server.asked[0].body).toMatchObject({
      temperature: 0.5,
      seed: 3,
      parallel_tool_calls: false,
      tools: [{ type: 'function', function: { name: 'look' } }],
      messages: [
        { role: 'system' },
        { content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
        { tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
      ],
    });
  });

  it('asks for a reply by a schema, and tells what the endpoint charged and that a model declined', async () => {
    await using server = await serveChat(
      () => (response) =>
        sendJson(response, 200, {
          choices: [{ finish_reason: 'stop', message: { content: null, refusal: 'I will not.' } }],
          usage: { prompt_tokens: 5, completion_tokens: 2, cost: 0.0125 },
        }),
    );
    const endpoint = createChatEndpoint({ model: 'm', baseUrl: server.url, apiKey: KEY });
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    const answer = await endpoint.complete({ ...hello, format: { name: 'number', schema } }, { signal });
    expect(answer).toMatchObject({ refusal: 'I will not.', cost: 0.0125, usage: { promptTokens: 5 } });
    expect(server.asked[0].body).toMatchObject({
      response_format: { type: 'json_schema', json_schema: { name: 'number', strict: true, schema } },
    });
    expect(server.asked[0].body).not.toHaveProperty('usage');
  });

  it('asks OpenRouter, and nobody else, for what it charged', async () => {
    const bodies: unknown[] = [];
    const answer = { choices: [{ finish_reason: 'stop', message: { content: 'x' } }] };
    vi.stubGlobal('fetch', async (_: string, { body }: { readonly body: string }) => {
      bodies.push(JSON.parse(body));
      return Response.json(answer);
    });
    try {
      for (const baseUrl of ['https://openrouter.ai/api/v1', 'https://openrouter.ai.example/v1']) {
        await createChatEndpoint({ model: 'm', baseUrl, apiKey: KEY }).complete(hello, { signal });
      }
    } finally {
      vi.unstubAllGlobals();
    }
    expect(bodies).toMatchObject([{ usage: { include: true } }, {}]);
    expect(bodies[1]).not.toHaveProperty('usage');
  });

  it.each([
    ['a server error', failing(500, 'boom'), 'backend', 'chat-server-error'],
    ['too many requests', failing(429, 'slow down'), 'backend', 'chat-rate-limited'],
    ['a request that it refuses', failing(400, 'context too long'), 'backend', 'chat-refused'],
    ['a key that it refuses', failing(401, `no such key ${KEY}`), 'config', 'chat-key-refused'],
    ['a model that it does not know', failing(404, 'no m'), 'config', 'chat-unknown-model'],
    [
      'an answer that is none',
      () => (response: ServerResponse) => sendJson(response, 200, {}),
      'backend',
      'chat-bad-answer',
    ],
    [
      'an answer that is no JSON',
      () => (response: ServerResponse) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(`{"key": "${KEY}"`),
      'backend',
      'chat-broken-answer',
    ],
    [
      'an answer that breaks off',
      () => (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"choices": [', () => response.destroy());
      },
      'backend',
      'chat-broken-answer',
    ],
    ['a broken connection', () => (response: ServerResponse) => void response.destroy(), 'backend', 'chat-unreachable'],
  ] as const)('%s is a failure with an owner, and never tells the key', async (_, answer, boundary, code) => {
    const { error } = await ask(answer);
    expect([error?.boundary, error?.code]).toEqual([boundary, code]);
    expect(JSON.stringify([error, error?.message])).not.toContain(KEY);
  });

  it('what broke off in the middle may be asked for again, which the client does not do', async () => {
    const { error, asked } = await ask(
      () => (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"cho'),
      { maxRetries: 2 },
    );
    expect([error, asked.length]).toMatchObject([{ code: 'chat-broken-answer', retryable: true }, 1]);
  });

  it('leaves retries to the client: so many tries as it was told, no more', async () => {
    const answer = (index: number): Answer =>
      index < 2
        ? (response) => sendJson(response, 500, { error: { message: 'boom' } }, { 'retry-after-ms': '1' })
        : { content: 'at last' };
    const { value, asked } = await ask(answer, { maxRetries: 2 });
    expect([value?.reply.text, asked.length]).toEqual(['at last', 3]);
    expect((await ask(answer, { maxRetries: 1 })).error?.code).toBe('chat-server-error');
  });

  it.each([
    ['does not answer', () => () => undefined],
    [
      'stops in the middle of its answer',
      () => (response: ServerResponse) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).write('{"cho'),
    ],
  ])('an endpoint that %s is given up at the deadline', async (_, answer) => {
    const start = performance.now();
    const { error } = await ask(answer, { attemptMs: 5_000, deadlineMs: 100 });
    expect(error).toMatchObject({ boundary: 'backend', code: 'chat-timeout' });
    expect(performance.now() - start).toBeLessThan(3_000);
  });

  it('ends with the signal, whose reason it passes on', async () => {
    await using server = await serveChat(() => () => undefined);
    const endpoint = createChatEndpoint({ model: 'm', baseUrl: server.url, apiKey: KEY });
    const controller = new AbortController();
    const asking = endpoint.complete(hello, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
  });

  it.each(['ftp://host/v1', 'nonsense', 'http://user:pass@host/v1', 'http://host/v1?key=1'])(
    'the address %s is refused before anything is sent',
    (baseUrl) => {
      expect(() => createChatEndpoint({ model: 'm', baseUrl, apiKey: KEY })).toThrow(/endpoint/i);
    },
  );
});
