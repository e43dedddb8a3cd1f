// Samplers: made of a name or a path, shown, asked for samples.

import { isGiven } from './absent.ts';
import type { Hono } from 'hono';
import {
  createSamplingSessionRequestSchema,
  joinSamplingSessionRequestSchema,
  sampleRequestFromJson,
} from '../../tinker/index.ts';
import { decodeLimits, parseBody, readJson } from './read-body.ts';
import type { SamplingSession } from './sampling-service.ts';
import type { Services } from './services.ts';

export function addSamplingRoutes(app: Hono, { sampling, parts }: Services): void {
  const { maxBodyBytes } = parts.limits;
  /** Clients that have joined a sampler beside the first. */
  const joined = new WeakMap<SamplingSession, number>();

  app.post('/create_sampling_session', async (context) => {
    const { value } = await readJson(context, maxBodyBytes);
    const body = parseBody(createSamplingSessionRequestSchema, value);
    const id = sampling.create(body.session_id, body.sampling_session_seq_id, {
      ...(!isGiven(body.base_model) ? {} : { baseModel: body.base_model }),
      ...(!isGiven(body.model_path) ? {} : { modelPath: body.model_path }),
    });
    return context.json({ type: 'create_sampling_session', sampling_session_id: id });
  });
  app.post('/join_sampling_session', async (context) => {
    const { value } = await readJson(context, maxBodyBytes);
    const sampler = sampling.get(parseBody(joinSamplingSessionRequestSchema, value).sampling_session_id);
    parts.sessions.touch(sampler.sessionId);
    const counter = (joined.get(sampler) ?? 0) + 1;
    joined.set(sampler, counter);
    return context.json({ type: 'join_sampling_session', client_counter: counter });
  });
  app.get('/samplers/:id', (context) => {
    const { id, baseModel, modelPath } = sampling.get(context.req.param('id'));
    return context.json({
      sampler_id: id,
      base_model: baseModel,
      ...(modelPath === undefined ? {} : { model_path: modelPath }),
    });
  });
  app.post('/asample', async (context) => {
    const { value, bytes } = await readJson(context, maxBodyBytes);
    return context.json(sampling.submit(sampleRequestFromJson(value, decodeLimits(maxBodyBytes)), bytes));
  });
}
