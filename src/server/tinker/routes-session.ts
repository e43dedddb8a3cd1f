// Hand-shake, sessions and what a client asks about the server itself.

import type { Hono } from 'hono';
import { z } from 'zod';
import type { JsonObject } from '../../core/index.ts';
import {
  clientConfigRequestSchema,
  createSessionRequestSchema,
  finishSessionRequestSchema,
  sessionRequestSchema,
  type ClientConfig,
} from '../../tinker/index.ts';
import { readPage } from './paging.ts';
import { parseBody, readJson } from './read-body.ts';
import { refusal } from './refusals.ts';
import type { Services } from './services.ts';
import { searchSessions, sessionSearchSchema } from './session-search.ts';
import type { Session } from './sessions.ts';

export type ClientFlags = ClientConfig & {
  /** Clients may then poll for many samples at once. Default false. */
  readonly sample_use_retrieve_futures?: boolean;
};

/** Chunks in order and rarely any, because a queue keeps them in order anyhow; plain HTTP; no compression on loopback. */
export const CLIENT_CONFIG: ClientFlags = {
  pjwt_auth_enabled: false,
  parallel_fwdbwd_chunks: false,
  proto_write_fwdbwd: true,
  proto_compress_fwdbwd: false,
  use_pyqwest_transport: false,
  sample_max_concurrent_requests: 256,
  fwdbwd_max_chunk_bytes_count: 8 * 2 ** 20,
  sample_use_retrieve_futures: false,
};

export type SessionRoutesOptions = {
  readonly services: Services;
  readonly clientConfig: ClientFlags;
  /** Whether clients are told that they may cancel samples; they may in any case. */
  readonly cancelEnabled: boolean;
};

export function addSessionRoutes(app: Hono, { services, clientConfig, cancelEnabled }: SessionRoutesOptions): void {
  const { sessions, checkpoints, models, limits } = services.parts;

  app.post('/client/config', async (context) => {
    parseBody(clientConfigRequestSchema, (await readJson(context, limits.maxBodyBytes)).value);
    return context.json(clientConfig);
  });
  app.post('/client/dynamic_config', (context) =>
    context.json({ refresh_interval_sec: 300, sample_cancel_enabled: cancelEnabled }),
  );
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.get('/get_server_capabilities', (context) =>
    context.json({
      supported_models: models.all.flatMap(({ names, backend }) =>
        names.map((name) => ({
          model_name: name,
          max_context_length: backend.contextLength,
          trainable: true,
          sampleable: true,
        })),
      ),
    }),
  );
  app.post('/create_session', async (context) => {
    const body = parseBody(createSessionRequestSchema, (await readJson(context, limits.maxBodyBytes)).value);
    const session = sessions.create({
      tags: body.tags ?? [],
      userMetadata: (body.user_metadata ?? {}) as JsonObject,
      displayName: body.display_name ?? undefined,
      sdkVersion: body.sdk_version ?? '',
      projectId: body.project_id ?? undefined,
    });
    return context.json({ type: 'create_session', session_id: session.id });
  });
  app.post('/session_heartbeat', async (context) => {
    const body = parseBody(sessionRequestSchema, (await readJson(context, limits.maxBodyBytes)).value);
    sessions.use(body.session_id);
    return context.json({ type: 'session_heartbeat' });
  });
  // What clients report of themselves may hold paths and keys; it is let go unread.
  app.post('/telemetry', async (context) => {
    await readJson(context, limits.maxBodyBytes);
    return context.json({ status: 'accepted' });
  });
  app.get('/sessions', (context) => {
    const { items } = readPage(context, sessions.all, 20);
    return context.json({ sessions: items.map(({ id }) => id) });
  });
  app.post('/sessions/search', async (context) => {
    const body = parseBody(sessionSearchSchema, (await readJson(context, limits.maxBodyBytes)).value);
    return context.json(searchSessions(sessions.all, body, checkpoints));
  });
  const find = (id: string): Session => {
    const session = sessions.find(id);
    if (session === undefined) throw refusal('not-found', `There is no session ${JSON.stringify(id)}.`);
    return session;
  };
  app.get('/sessions/:id', (context) => {
    const session = find(context.req.param('id'));
    return context.json({
      training_run_ids: [...session.modelIds],
      sampler_ids: [...session.samplerIds],
      user_metadata: session.userMetadata,
      display_name: session.displayName ?? null,
    });
  });
  app.put('/sessions/:id/project', async (context) => {
    const session = find(context.req.param('id'));
    const { value } = await readJson(context, limits.maxBodyBytes);
    session.projectId = parseBody(z.object({ project_id: z.string() }), value).project_id;
    return context.json({});
  });
  app.post('/sessions/:id/finish', async (context) => {
    const session = find(context.req.param('id'));
    const body = parseBody(finishSessionRequestSchema, (await readJson(context, limits.maxBodyBytes)).value);
    const end = { type: 'client_finished', reason: body.reason.type, detail: body.detail ?? null } as const;
    sessions.end(session, end, 'The client finished its session.');
    return context.json({});
  });
}
