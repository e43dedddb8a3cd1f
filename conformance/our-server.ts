// Our server as a user starts it: the command of the command line in a process of its own, over a folder of its own,
// with a hub-style name for the tiny model. Ready when it prints its address; stopped by SIGTERM.

import { mkdir } from 'node:fs/promises';
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { join, resolve } from 'node:path';
import { spawnOwned } from '../src/util/index.ts';

/** The name that clients ask for: one that tinker-cookbook knows, so that its recipes choose a renderer. */
export const BASE_MODEL = 'Qwen/Qwen3-8B';

export type OurServerOptions = {
  /** The Hugging Face folder that is served. */
  readonly model: string;
  /** Checkpoints are kept below. */
  readonly folder: string;
  readonly log: string;
};

export interface OurServer extends AsyncDisposable {
  readonly url: string;
  /** How many pieces of work of this kind ended well, as `/metrics` counts them. */
  finished(kind: string): Promise<number>;
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
}

/** A busy machine takes minutes for what takes two seconds alone. */
const START_MS = 300_000;
const STOP_MS = 30_000;

export async function startOurServer(options: OurServerOptions): Promise<OurServer> {
  await mkdir(options.folder, { recursive: true });
  const root = resolve(import.meta.dirname, '..');
  const args = ['--import', 'tsx', join(root, 'src', 'cli', 'main.ts'), 'serve'];
  args.push('--model', `hf:${options.model}`, '--model-name', BASE_MODEL, '--port', '0');
  args.push('--checkpoints', options.folder, '--json');
  const owned = spawnOwned({ command: process.execPath, args, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(options.log, { flags: 'a' });
  owned.child.stderr?.pipe(log, { end: false });
  const lines: string[] = [];
  const url = await new Promise<string>((found, failed) => {
    const timer = setTimeout(() => failed(new Error(`our server was not ready within ${START_MS / 1000} s`)), START_MS);
    createInterface({ input: owned.child.stdout! }).on('line', (line) => {
      log.write(`${line}\n`);
      lines.push(line);
      const address = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/.exec(line)?.[0];
      if (address === undefined) return;
      clearTimeout(timer);
      found(address);
    });
    void owned.ended.then(({ code, error }) => {
      clearTimeout(timer);
      failed(error ?? new Error(`our server ended with code ${code} (log: ${options.log}): ${lines.join(' | ')}`));
    });
  }).catch(async (error: unknown) => {
    await owned.kill();
    throw error;
  });
  return {
    url,
    async finished(kind) {
      const text = await (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(10_000) })).text();
      const line = text
        .split('\n')
        .find((one) => one.startsWith(`tabwright_futures_total{kind="${kind}",outcome="finished"}`));
      return Number(line?.split(' ')[1] ?? 0);
    },
    async stop() {
      owned.child.kill('SIGTERM');
      const timer = setTimeout(() => void owned.kill(), STOP_MS);
      const { code } = await owned.ended;
      clearTimeout(timer);
      return code;
    },
    [Symbol.asyncDispose]: () => owned.kill(),
  };
}
