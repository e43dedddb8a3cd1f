// A client for tests that sends exactly what it is told, over real HTTP: what the SDKs send, and what they never would.

import { expect } from 'vitest';
import {
  decodeForwardBackwardOutput,
  decodeSampleResponse,
  encodeForwardBackwardRequest,
  floatTensor,
  intTensor,
  type ForwardBackwardOutput,
  type ForwardBackwardRequest,
  type WireDatum,
  type WireSampleResponse,
} from '../../src/tinker/index.ts';

export type JsonBody = Readonly<Record<string, unknown>>;

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  /** Empty where the answer is no JSON. */
  readonly body: JsonBody;
  readonly bytes: Uint8Array;
};

export const PROTO = { 'Content-Type': 'application/x-protobuf' };

export class RawClient {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = { 'X-API-Key': 'tml-local' }) {
    this.url = url;
    this.headers = headers;
  }

  /** `body` goes out as it is when it is text or bytes, else as JSON. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    { headers = {}, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Reply> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${this.url}${path.startsWith('/') ? '' : '/api/v1/'}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...this.headers, ...(raw ? {} : { 'Content-Type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(new TextDecoder().decode(bytes)) as JsonBody) : {},
      bytes,
    };
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send('POST', path, body, { headers });
  }

  /** The body of an answer with status 200. */
  async get(path: string): Promise<JsonBody> {
    const reply = await this.send('GET', path);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body;
  }

  /** The same of a POST. */
  async ok(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<JsonBody> {
    const reply = await this.post(path, body, headers);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body;
  }

  /** Asks for work; gives the request id. */
  async submit(path: string, body: unknown): Promise<string> {
    return (await this.ok(path, body))['request_id'] as string;
  }

  /** Polls until there is a result. */
  async poll(requestId: string, accept = 'application/json'): Promise<Reply> {
    for (;;) {
      const reply = await this.post('retrieve_future', { request_id: requestId }, { Accept: accept });
      if (reply.body['type'] !== 'try_again') return reply;
    }
  }

  /** A JSON result. */
  async result(requestId: string): Promise<JsonBody> {
    const { status, body } = await this.poll(requestId);
    expect([status, body['error']]).toEqual([200, undefined]);
    return body;
  }

  /** A failure as data. */
  async failure(requestId: string): Promise<{ error: string; category: string }> {
    const { status, body } = await this.poll(requestId);
    expect([status, typeof body['error']]).toEqual([200, 'string']);
    return body as { error: string; category: string };
  }

  async session(): Promise<string> {
    const body = await this.ok('create_session', { tags: [], user_metadata: {}, sdk_version: '0.38.0' });
    return body['session_id'] as string;
  }

  async model(sessionId: string, options: JsonBody = {}): Promise<string> {
    const asked = { session_id: sessionId, model_seq_id: 0, base_model: 'tiny', lora_config: { rank: 4 }, ...options };
    return (await this.result(await this.submit('create_model', asked)))['model_id'] as string;
  }

  /** As SDKs from 0.25 on do; gives the request id. */
  async pass(request: ForwardBackwardRequest): Promise<string> {
    const reply = await this.post('forward_backward', encodeForwardBackwardRequest(request), PROTO);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body['request_id'] as string;
  }

  async output(requestId: string): Promise<ForwardBackwardOutput> {
    const { body, bytes, headers } = await this.poll(requestId, 'application/x-protobuf');
    expect([body, headers.get('content-type')]).toEqual([{}, 'application/x-protobuf']);
    return decodeForwardBackwardOutput(bytes);
  }

  async samples(requestId: string): Promise<WireSampleResponse> {
    const { body, bytes } = await this.poll(requestId, 'application/x-protobuf');
    expect(body).toEqual({});
    return decodeSampleResponse(bytes);
  }
}

/** A row for cross-entropy that trains every token with the same weight. */
export function supervised(tokens: readonly number[], weight = 1): WireDatum {
  const input = tokens.slice(0, -1);
  return {
    modelInput: [{ kind: 'text', tokens: Int32Array.from(input) }],
    lossInputs: { target_tokens: intTensor(tokens.slice(1)), weights: floatTensor(input.map(() => weight)) },
  };
}

export function crossEntropy(modelId: string, seqId: number, data: readonly WireDatum[]): ForwardBackwardRequest {
  return { modelId, seqId, data, lossFn: 'cross_entropy', lossConfig: {}, forwardOnly: false };
}

export const ADAM = { learning_rate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, grad_clip_norm: 0 };

/** A request for samples with everything that SDK 0.38 sends. */
export function sampleBody(samplingSessionId: string, seqId: number | bigint, options: JsonBody = {}): string {
  const { sampling_params, ...others } = options;
  const body = {
    num_samples: 1,
    prompt: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3] }] },
    sampling_params: { max_tokens: 4, seed: 3, temperature: 1, top_k: -1, top_p: 1, ...(sampling_params as object) },
    sampling_session_id: samplingSessionId,
    seq_id: 'SEQ',
    prompt_logprobs: false,
    topk_prompt_logprobs: 0,
    topk_sample_logprobs: 0,
    prompt_alt_tokens_k: 0,
    record_stability_info: false,
    type: 'sample',
    ...others,
  };
  return JSON.stringify(body).replace('"SEQ"', String(seqId));
}
