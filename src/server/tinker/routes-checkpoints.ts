// Training runs and their checkpoints over REST: listed, kept for longer or shorter, published, deleted, fetched.

import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Hono } from 'hono';
import { copyWeightsRequestSchema, ttlRequestSchema, weightsInfoRequestSchema } from '../../tinker/index.ts';
import { archiveOf } from './archive.ts';
import { checkpointAnswer, runAnswer } from './checkpoint-records.ts';
import { copyCheckpoint } from './copy-checkpoint.ts';
import { parseCheckpointId, parsePath, type CheckpointPath } from './names.ts';
import { readPage } from './paging.ts';
import { parseBody, readJson } from './read-body.ts';
import { refusal, userFault } from './refusals.ts';
import type { Services } from './services.ts';
import { projectOf } from './storage-usage.ts';

const ONE = '/training_runs/:run/checkpoints/:kind/:name';
export const DOWNLOADS = '/downloads';

export function addCheckpointRoutes(app: Hono, services: Services, prefix: string): void {
  const { parts, saving } = services;
  const { checkpoints, limits } = parts;
  const pathOf = ({ run, kind, name }: Record<'run' | 'kind' | 'name', string>): CheckpointPath => ({
    runId: run,
    ...parseCheckpointId(kind, name),
  });
  const show = (id: string): object => {
    const { record, lastRequestAt } = checkpoints.run(id);
    return runAnswer(record, checkpoints.list(id), lastRequestAt);
  };

  app.get('/training_runs', (context) => {
    const newest = [...checkpoints.runs].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    const project = context.req.query('project_id');
    const wanted = newest.filter((run) => project === undefined || projectOf(run, parts.sessions) === project);
    const { items, cursor } = readPage(context, wanted, 20);
    return context.json({ training_runs: items.map(({ runId }) => show(runId)), cursor });
  });
  app.get('/training_runs/:run', (context) => context.json(show(context.req.param('run'))));
  app.get('/training_runs/:run/checkpoints', (context) => {
    const { record } = checkpoints.run(context.req.param('run'));
    const list = checkpoints.list(record.runId).map((one) => checkpointAnswer(record, one));
    return context.json({ checkpoints: list });
  });
  app.get('/checkpoints', (context) => {
    const all = checkpoints.runs.flatMap((run) => checkpoints.list(run.runId).map((record) => ({ run, record })));
    all.sort((a, b) => (a.record.time < b.record.time ? 1 : -1));
    const { items, cursor } = readPage(context, all, 100);
    return context.json({ checkpoints: items.map(({ run, record }) => checkpointAnswer(run, record)), cursor });
  });
  app.delete(ONE, async (context) => {
    await checkpoints.delete(pathOf(context.req.param()));
    return context.body(null, 204);
  });
  app.put(`${ONE}/ttl`, async (context) => {
    const { ttl_seconds: seconds } = parseBody(ttlRequestSchema, (await readJson(context, limits.maxBodyBytes)).value);
    if (seconds !== null && seconds < 1) throw userFault(`ttl_seconds is ${seconds}; it must be at least 1, or null.`);
    await checkpoints.setTtl(pathOf(context.req.param()), seconds);
    return context.json({});
  });
  app.post(`${ONE}/publish`, async (context) => {
    await checkpoints.setPublic(pathOf(context.req.param()), true);
    return context.json({});
  });
  app.delete(`${ONE}/publish`, async (context) => {
    await checkpoints.setPublic(pathOf(context.req.param()), false);
    return context.body(null, 204);
  });
  app.get(`${ONE}/archive`, async (context) => {
    const { token, download } = await saving.offer(pathOf(context.req.param()));
    return context.body(null, 302, {
      Location: `${originOf(context.req.url)}${prefix}${DOWNLOADS}/${token}`,
      Expires: download.expiresAt.toUTCString(),
    });
  });
  app.get(`${ONE}/external_weights_urls`, async (context) => {
    const { token, download, files } = await saving.offer(pathOf(context.req.param()));
    const base = `${originOf(context.req.url)}${prefix}${DOWNLOADS}/${token}`;
    const urls = Object.fromEntries(files.map((file) => [file, `${base}/${encodeURIComponent(file)}`]));
    return context.json({ urls, expires: download.expiresAt.toISOString() });
  });
  app.get(`${DOWNLOADS}/:token`, async (context) => {
    const { folder, name } = saving.download(context.req.param('token'));
    return context.body(Readable.toWeb(await archiveOf(folder)) as ReadableStream, 200, {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename="${name}.tar.gz"`,
    });
  });
  app.get(`${DOWNLOADS}/:token/:file`, async (context) => {
    const { folder } = saving.download(context.req.param('token'));
    const file = context.req.param('file');
    if (!/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(file)) throw refusal('not-found', 'There is no such file.');
    const path = join(folder, file);
    const size = await stat(path).then(
      (entry) => entry.size,
      () => {
        throw refusal('not-found', `There is no file ${JSON.stringify(file)}.`);
      },
    );
    return context.body(Readable.toWeb(createReadStream(path)) as ReadableStream, 200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': String(size),
    });
  });
  app.post('/copy_weights', async (context) => {
    const request = parseBody(copyWeightsRequestSchema, (await readJson(context, limits.maxBodyBytes)).value);
    const key = context.req.header('x-idempotency-key') ?? randomUUID();
    return context.json({ tinker_path: await copyCheckpoint(parts, request, key) });
  });
  app.post('/weights_info', async (context) => {
    const { value } = await readJson(context, limits.maxBodyBytes);
    const { run } = checkpoints.get(parsePath(parseBody(weightsInfoRequestSchema, value).tinker_path));
    return context.json({
      base_model: run.baseModel,
      is_lora: run.lora !== undefined,
      optimizer_config: { type: 'adamw' },
      ...(run.lora === undefined
        ? {}
        : {
            lora_rank: run.lora.rank,
            train_attn: run.lora.trainAttention,
            train_mlp: run.lora.trainMlp,
            train_unembed: run.lora.trainUnembed,
          }),
    });
  });
}

/** As the client called the server. */
function originOf(url: string): string {
  return new URL(url).origin;
}
