// Runs the command line as a person does: a process of its own, its output and exit code, signals from outside.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export type CliResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export type CliOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds after which the process is killed. Default 120. */
  readonly timeoutS?: number;
  /** What it reads from standard input. Default: nothing. */
  readonly input?: string;
  /** Called with everything that standard error has said so far, each time it says more. */
  readonly onStderr?: (text: string, kill: (signal: NodeJS.Signals) => void, pid: number) => void;
};

export function runCli(
  args: readonly string[],
  { env = {}, timeoutS = 120, input, onStderr }: CliOptions = {},
): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli/main.ts', ...args], {
      cwd: ROOT,
      env: { ...process.env, CI: '1', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: timeoutS * 1000,
      killSignal: 'SIGKILL',
    });
    child.stdin.on('error', () => undefined).end(input); // it may end without reading
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
      onStderr?.(stderr, (signal) => child.kill(signal), child.pid!);
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
