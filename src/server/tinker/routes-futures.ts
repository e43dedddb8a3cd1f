// Polling for results. A poll is held open for less time than clients wait, then told to come again; a result can be
// read as often as it is asked for, in the form that the reader says it takes.

import type { Context, Hono } from 'hono';
import {
  acceptsProtobuf,
  cancelFutureRequestSchema,
  encodeForwardBackwardOutput,
  encodeSampleResponse,
  formatJson,
  forwardBackwardOutputToJson,
  JSON_TYPE,
  PROTOBUF,
  retrieveFutureRequestSchema,
  retrieveFuturesRequestSchema,
  sampleResponseToJson,
} from '../../tinker/index.ts';
import { callerSignal } from './caller-signal.ts';
import { isSampleRequest } from './names.ts';
import { parseBody, readJson } from './read-body.ts';
import { failureBody, refusal } from './refusals.ts';
import type { Result } from './results.ts';
import type { Services } from './services.ts';

export function addFutureRoutes(app: Hono, services: Services): void {
  const { futures, sessions, limits } = services.parts;

  app.post('/retrieve_future', async (context) => {
    const { value } = await readJson(context, limits.maxBodyBytes);
    const { request_id: id } = parseBody(retrieveFutureRequestSchema, value);
    const future = futures.get(id);
    if (future === undefined) {
      // Clients send a sample anew when it is gone, and give up where a model's request is.
      const code = isSampleRequest(id) ? 'gone' : 'not-found';
      throw refusal(code, `There is no request ${JSON.stringify(id)}, or its result is no longer kept.`);
    }
    if (future.sessionId !== undefined) sessions.touch(future.sessionId);
    await futures.wait(id, { ms: limits.longPollMs, signal: callerSignal(context) });
    const { settled } = future;
    if (settled === undefined) {
      const { state, reason } = future.queueState();
      return context.json({
        type: 'try_again',
        request_id: id,
        queue_state: state,
        ...(reason === undefined ? {} : { queue_state_reason: reason }),
      });
    }
    if ('failure' in settled) return context.json(failureBody(settled.failure));
    try {
      return answer(context, settled.value);
    } catch (error) {
      // JSON has no words for NaN and infinity. An answer with a 5xx would be asked for again for ever.
      return context.json(failureBody(error));
    }
  });

  app.post('/retrieve_futures', async (context) => {
    const { value } = await readJson(context, limits.maxBodyBytes);
    const { target, prev_cursor, timeout } = parseBody(retrieveFuturesRequestSchema, value);
    const cursor = prev_cursor ?? 0;
    const log = services.sampling.completions(target.sampling_session_id, target.cloned_sampler_id ?? 0);
    sessions.touch(services.sampling.get(target.sampling_session_id).sessionId);
    const ms = Math.min(limits.longPollMs, (timeout ?? Infinity) * 1000);
    await log.wait(cursor, { ms, signal: callerSignal(context) });
    return context.json({ completions: log.since(cursor), cursor: log.cursor });
  });

  app.post('/cancel_future', async (context) => {
    const { value } = await readJson(context, limits.maxBodyBytes);
    futures.get(parseBody(cancelFutureRequestSchema, value).request_id)?.cancel();
    return context.json({});
  });
}

function answer(context: Context, result: Result): Response {
  switch (result.kind) {
    case 'json':
      return context.json(result.body as object);
    case 'forward_backward':
      if (acceptsProtobuf(context.req.header('accept'))) {
        return protobuf(context, encodeForwardBackwardOutput(result.output));
      }
      return text(context, formatJson(forwardBackwardOutputToJson(result.output)));
    case 'sample':
      if (acceptsProtobuf(context.req.header('accept'))) {
        return protobuf(context, encodeSampleResponse(result.response));
      }
      return text(context, formatJson(sampleResponseToJson(result.response)));
    default:
      return result satisfies never;
  }
}

function protobuf(context: Context, bytes: Uint8Array): Response {
  return context.body(bytes as Uint8Array<ArrayBuffer>, 200, { 'Content-Type': PROTOBUF });
}

function text(context: Context, body: string): Response {
  return context.body(body, 200, { 'Content-Type': JSON_TYPE });
}
