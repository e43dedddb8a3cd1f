// OpenAI's API over the same samplers: chat, completions and the list of models, for agents and judges that speak it. A
// model is named as it is served, by a checkpoint's path or by a sampler's id.

import { Hono, type Context } from 'hono';
import { isAbort } from '../../core/index.ts';
import { callerSignal } from '../tinker/caller-signal.ts';
import { parseBody, readJson } from '../tinker/read-body.ts';
import type { Services } from '../tinker/services.ts';
import { completeChat, readChat, streamChat } from './chat-completions.ts';
import { complete, readCompletion, streamCompletion } from './completions.ts';
import type { EventStream } from './event-stream.ts';
import { openAiFailure } from './failures.ts';
import type { Serving } from './run-samples.ts';
import { chatRequestSchema, completionRequestSchema } from './schemas.ts';

export function createOpenAiRoutes({ sampling, parts }: Services): Hono {
  const { models, limits, onFailure } = parts;
  const app = new Hono();
  const serving = (context: Context): Serving => ({
    sampling,
    signal: callerSignal(context),
    deadlineMs: limits.jobMs,
  });
  app.onError((error, context) => {
    const { status, body } = openAiFailure(error);
    if (status === 500 && !isAbort(error)) onFailure(error);
    return context.json(body, status);
  });
  app.get('/models', (context) =>
    context.json({
      object: 'list',
      data: models.names.map((id) => ({ id, object: 'model', created: 0, owned_by: 'local' })),
    }),
  );
  app.post('/chat/completions', async (context) => {
    const request = parseBody(chatRequestSchema, (await readJson(context, limits.maxBodyBytes)).value);
    const turn = readChat(sampling, request);
    if (request.stream === true) return events(context, streamChat(turn, serving(context)));
    return context.json(await completeChat(turn, serving(context)));
  });
  app.post('/completions', async (context) => {
    const request = parseBody(completionRequestSchema, (await readJson(context, limits.maxBodyBytes)).value);
    const turn = readCompletion(sampling, request);
    if (request.stream === true) return events(context, streamCompletion(turn, serving(context)));
    return context.json(await complete(turn, serving(context)));
  });
  return app;
}

function events(context: Context, { body }: EventStream): Response {
  return context.body(body, 200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
}
