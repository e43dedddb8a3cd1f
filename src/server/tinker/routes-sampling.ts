// Samplers: made of a name or a path, shown, asked for samples.

import { isGiven } from './absent.ts';
import type { Hono } from 'hono';
import { createSamplingSessionRequestSchema, sampleRequestFromJson } from '../../tinker/index.ts';
import { decodeLimits, parseBody, readJson } from './read-body.ts';
import type { Services } from './services.ts';

export function addSamplingRoutes(app: Hono, { sampling, parts }: Services): void {
  const { maxBodyBytes } = parts.limits;

  app.post('/create_sampling_session', async (context) => {
    const { value } = await readJson(context, maxBodyBytes);
    const body = parseBody(createSamplingSessionRequestSchema, value);
    const id = sampling.create(body.session_id, body.sampling_session_seq_id, {
      ...(!isGiven(body.base_model) ? {} : { baseModel: body.base_model }),
      ...(!isGiven(body.model_path) ? {} : { modelPath: body.model_path }),
    });
    return context.json({ type: 'create_sampling_session', sampling_session_id: id });
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
    sampling.announce();
    const { value, bytes } = await readJson(context, maxBodyBytes);
    return context.json(sampling.submit(sampleRequestFromJson(value, decodeLimits(maxBodyBytes)), bytes));
  });
}
