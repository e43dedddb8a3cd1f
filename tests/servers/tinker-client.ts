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

export type Reply = { readonly status: number; readonly body: any; readonly headers: Headers }; // eslint-disable-line @typescript-eslint/no-explicit-any

export class RawClient {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = { 'X-API-Key': 'tml-local' }) {
    this.url = url;
    this.headers = headers;
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(`${this.url}/api/v1/${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...this.headers,
        ...(body === undefined || isBytes ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: isBytes || typeof body === 'string' ? (body as string) : JSON.stringify(body) }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(new TextDecoder().decode(bytes)) as unknown) : bytes,
    };
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send('POST', path, body, headers);
  }

  get(path: string): Promise<Reply> {
    return this.send('GET', path);
  }

  /** Answers the body of a request that must be taken. */
  async ok(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<any> {
    // eslint-disable-line @typescript-eslint/no-explicit-any
    const reply = await this.post(path, body, headers);
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body;
  }

  /** Polls until there is a result. */
  async result(requestId: string, accept = 'application/json'): Promise<Reply> {
    for (;;) {
      const reply = await this.post('retrieve_future', { request_id: requestId }, { Accept: accept });
      if (reply.body?.type !== 'try_again') return reply;
    }
  }

  async session(): Promise<string> {
    return (await this.ok('create_session', { tags: [], user_metadata: {}, sdk_version: '0.38.0' })).session_id;
  }

  async model(sessionId: string, options: Record<string, unknown> = {}): Promise<string> {
    const promise = await this.ok('create_model', {
      session_id: sessionId,
      model_seq_id: 0,
      base_model: 'tiny',
      lora_config: { rank: 4 },
      ...options,
    });
    const { body } = await this.result(promise.request_id);
    expect(body.error).toBeUndefined();
    return body.model_id;
  }

  /** As SDKs from 0.25 on do. */
  async pass(request: ForwardBackwardRequest): Promise<string> {
    const body = encodeForwardBackwardRequest(request);
    return (await this.ok('forward_backward', body, { 'Content-Type': 'application/x-protobuf' })).request_id;
  }

  async output(requestId: string): Promise<ForwardBackwardOutput> {
    const { body } = await this.result(requestId, 'application/x-protobuf');
    expect(body.error).toBeUndefined();
    return decodeForwardBackwardOutput(body);
  }

  async samples(requestId: string): Promise<WireSampleResponse> {
    const { body } = await this.result(requestId, 'application/x-protobuf');
    expect(body.error).toBeUndefined();
    return decodeSampleResponse(body);
  }

  async failure(requestId: string): Promise<{ error: string; category: string }> {
    const { status, body } = await this.result(requestId);
    expect([status, typeof body.error]).toEqual([200, 'string']);
    return body;
  }
}

/** A row for cross-entropy that trains every token. */
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
