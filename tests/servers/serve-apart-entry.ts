// Serves the tabular model until it is told to stop; its first line of output is the address.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveTinker } from '../../src/server/index.ts';
import { createTabularBackend } from './tabular-backend.ts';

const folder = await mkdtemp(join(tmpdir(), 'tabwright-apart-'));
const server = await serveTinker({
  models: [{ names: ['tiny'], backend: createTabularBackend(), endTokens: [2] }],
  folder,
  port: 0,
  // Polls of a slow machine must still be there when the last has come, and what they wait for must not have been given up.
  limits: { longPollMs: 600_000, gapMs: 600_000, sessionTimeoutMs: 600_000 },
  onFailure: (error) => process.stderr.write(`${String(error)}\n`),
});
process.stdout.write(`${server.url}\n`);
process.once('SIGTERM', () => {
  void server[Symbol.asyncDispose]().then(() => rm(folder, { recursive: true, force: true }));
});
