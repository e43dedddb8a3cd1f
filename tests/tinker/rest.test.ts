// What an account has on the server, asked for by our client over real HTTP: runs, sessions, checkpoints, their lifetime,
// archives and files for other programs, and what this server refuses.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportAdapter } from '../../src/engine/index.ts';
import type { ServiceClient } from '../../src/tinker/index.ts';
import { serveSmall, type Served } from './embedded-server.ts';

let served: Served;
let service: ServiceClient;
beforeAll(async () => {
  served = await serveSmall({
    model: { exportAdapter: (from, path, baseModel) => exportAdapter({ from, path, baseModel }) },
  });
  service = await served.connect();
});
afterAll(async () => {
  await service.close();
  await served[Symbol.asyncDispose]();
  expect(served.failures).toEqual([]);
});

const LORA = { baseModel: 'small', lora: { rank: 4 } } as const;

it('lists runs, sessions and checkpoints, and says what a checkpoint is of', async () => {
  const { rest } = service;
  const client = await service.createTrainingClient(LORA);
  const path = await client.saveState('one');
  const sampler = await client.saveForSampler('two');
  expect((await rest.listRuns()).map((run) => run.training_run_id)).toContain(client.modelId);
  expect(await rest.getRun(client.modelId)).toMatchObject({ base_model: 'small', is_lora: true, lora_rank: 4 });
  expect((await rest.listRunCheckpoints(client.modelId)).map((one) => one.tinker_path).sort()).toEqual(
    [path, sampler].sort(),
  );
  expect((await rest.listCheckpoints()).map((one) => one.tinker_path)).toEqual(expect.arrayContaining([path, sampler]));
  expect(await rest.weightsInfo(path)).toMatchObject({ base_model: 'small', is_lora: true, lora_rank: 4 });
  const sessions = await rest.listSessions();
  expect(sessions).toContain(service.sessionId);
  const session = await rest.getSession(service.sessionId);
  expect(session.training_run_ids).toContain(client.modelId);
  await expect(rest.getSession('no-such-session')).rejects.toMatchObject({ boundary: 'backend' });
  await expect(rest.getRun('no-such-run')).rejects.toMatchObject({ boundary: 'backend' });
});

it('keeps, publishes and deletes a checkpoint as it is told', async () => {
  const { rest } = service;
  const client = await service.createTrainingClient(LORA);
  const path = await client.saveState('kept');
  const find = async () =>
    (await rest.listRunCheckpoints(client.modelId)).find((checkpoint) => checkpoint.tinker_path === path);
  await rest.setTtl(path, 3600);
  const expires = Date.parse((await find())!.expires_at!);
  expect(Math.abs(expires - Date.now() - 3_600_000)).toBeLessThan(120_000);
  await rest.setTtl(path, null);
  expect((await find())!.expires_at ?? null).toBeNull();
  await rest.publish(path);
  expect((await find())!.public).toBe(true);
  await rest.unpublish(path);
  expect((await find())!.public).toBe(false);
  await rest.deleteCheckpoint(path);
  expect(await find()).toBeUndefined();
  await expect(rest.archiveUrl(path)).rejects.toMatchObject({ code: 'tinker-not-found' });
});

it('gives addresses of archives and of files for other programs, which can be fetched', async () => {
  const { rest } = service;
  const client = await service.createTrainingClient(LORA);
  const external = await client.saveExternal('theirs');
  const urls = await rest.externalUrls(external);
  expect(Object.keys(urls).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
  const config = (await (await fetch(urls['adapter_config.json'])).json()) as { r: number };
  expect(config.r).toBe(4);
  const weights = await fetch(urls['adapter_model.safetensors']);
  expect((await weights.arrayBuffer()).byteLength).toBeGreaterThan(100);
  const { url } = await rest.archiveUrl(await client.saveForSampler('packed'));
  const archive = new Uint8Array(await (await fetch(url)).arrayBuffer());
  expect(archive.length).toBeGreaterThan(100);
});
