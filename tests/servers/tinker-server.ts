// The server under test, with a folder of its own, and everything it said went wrong.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveTinker, type ServedModel, type TinkerServer, type TinkerServerOptions } from '../../src/server/index.ts';
import { createTabularBackend, type TabularBackend } from './tabular-backend.ts';
import { RawClient } from './tinker-client.ts';

export interface ServerUnderTest extends AsyncDisposable {
  readonly client: RawClient;
  readonly server: TinkerServer;
  readonly backend: TabularBackend;
  readonly folder: string;
  readonly failures: unknown[];
}

type Options = Partial<Omit<TinkerServerOptions, 'models'>> & { readonly model?: Partial<ServedModel> };

export async function serveTabular({ model, ...options }: Options = {}): Promise<ServerUnderTest> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tabwright-serve-')));
  const backend = createTabularBackend();
  const failures: unknown[] = [];
  const server = await serveTinker({
    models: [{ names: ['tiny', 'Qwen/Qwen3-8B'], backend, endTokens: [2], ...model }],
    port: 0,
    onFailure: (error) => failures.push(error),
    ...options,
    folder,
  });
  return {
    client: new RawClient(server.url),
    server,
    backend,
    folder,
    failures,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
