// SkyRL's real Tinker server on the CPU. It starts its engine by repeating its parent's command line, so the parent
// has to be `uv run … -m skyrl.tinker.api`; it answers before the engine is there, and compiles for minutes when its
// cache is empty, which is why the cache is kept between runs.

import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnOwned } from '../src/util/index.ts';
import { startedIn } from './command.ts';
import type { Context } from './context.ts';
import type { Venv } from './venvs.ts';

export interface SkyrlServer extends AsyncDisposable {
  readonly url: string;
  /** Seconds until it answered; the engine takes longer. */
  readonly startSeconds: number;
}

const START_MS = 300_000;
const STOP_MS = 20_000;

export async function startSkyrl(context: Context, venv: Venv, model: string): Promise<SkyrlServer> {
  const started = performance.now();
  const folder = join(context.work, 'skyrl');
  await mkdir(folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const owned = spawnOwned({
    ...startedIn(folder, join(venv.folder, 'bin', 'uv'), [
      ...['run', '--no-project', '--python', venv.python],
      ...['-m', 'skyrl.tinker.api', '--base-model', model, '--backend', 'jax'],
      ...['--backend-config', JSON.stringify({ max_lora_adapters: 6, max_lora_rank: 8 })],
      ...['--database-url', `sqlite:///${folder}/tinker.db`, '--checkpoints-base', join(folder, 'checkpoints')],
      ...['--host', '127.0.0.1', '--port', String(port)],
    ]),
    env: {
      VIRTUAL_ENV: venv.folder,
      PATH: `${join(venv.folder, 'bin')}:${process.env['PATH'] ?? ''}`,
      ...{ HF_HUB_OFFLINE: '1', UV_OFFLINE: '1', UV_PYTHON_DOWNLOADS: 'never', JAX_PLATFORMS: 'cpu' },
      JAX_COMPILATION_CACHE_DIR: join(context.cache, 'jax-cache'),
      JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0',
      JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES: '-1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = createWriteStream(join(context.logs, 'skyrl-server.log'), { flags: 'a' });
  owned.child.stdout?.pipe(log, { end: false });
  owned.child.stderr?.pipe(log, { end: false });
  const stop = async (): Promise<void> => {
    owned.child.kill('SIGTERM'); // ends the engine too
    const timer = setTimeout(() => void owned.kill(), STOP_MS);
    await owned.ended;
    clearTimeout(timer);
    await owned.kill();
  };
  let gone = false;
  void owned.ended.then(() => (gone = true));
  while (!(await answers(url))) {
    const late = performance.now() - started > START_MS;
    if (late) await stop();
    if (late || gone)
      throw new Error(`SkyRL's server ${late ? 'did not answer in time' : 'ended'}; see skyrl-server.log`);
    await sleep(500);
  }
  return { url, startSeconds: (performance.now() - started) / 1000, [Symbol.asyncDispose]: stop };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/api/v1/healthz`, { signal: AbortSignal.timeout(5000) })).ok;
  } catch {
    return false;
  }
}

/** It cannot be told to take any port and to say which. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
