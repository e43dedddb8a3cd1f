// `tabwright browsers serve` as a process of its own, from its first line of output to the exit of everything it started.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ServingCli extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Ctrl-C; gives the exit code. */
  stop(): Promise<number | null>;
}

export async function serveByCli(args: readonly string[], env: Record<string, string> = {}): Promise<ServingCli> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'src/cli/main.ts', 'browsers', 'serve', '--json', ...args],
    {
      cwd: ROOT,
      env: { ...process.env, CI: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const event = JSON.parse(line) as { kind: string; url?: string };
      if (event.kind === 'result' && event.url !== undefined) resolve(event.url);
    });
    void exited.then(([code]) => reject(new Error(`the server ended with ${code}: ${stderr}`)));
  });
  const stop = async (): Promise<number | null> => {
    child.kill('SIGINT');
    return (await exited)[0];
  };
  return { url, pid: child.pid!, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}
