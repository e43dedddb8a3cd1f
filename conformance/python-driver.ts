// Runs one of our Python drivers in one of the environments and turns its lines into cases. A driver that dies, or
// that reports nothing, is a failed case of its own: silence must not look like success.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { endWords, runCommand } from './command.ts';
import type { Report } from './report.ts';
import type { Venv } from './venvs.ts';

export type DriverOptions = {
  readonly report: Report;
  /** Names the part in every line, e.g. `sdk 0.38.0`. */
  readonly part: string;
  readonly venv: Venv;
  /** A file of `conformance/drivers`. */
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The driver's working directory. */
  readonly cwd: string;
  readonly deadlineMs: number;
  /** Folder of the log. */
  readonly logs: string;
};

/** Resolves to whether every case passed and the driver came to its end. */
export async function runDriver(options: DriverOptions): Promise<boolean> {
  const { report, part, venv, script, deadlineMs } = options;
  const failedBefore = report.failed;
  let cases = 0;
  await mkdir(options.logs, { recursive: true });
  const log = join(options.logs, `${part.replaceAll(/[^\w.]+/g, '-')}.log`);
  const end = await runCommand({
    what: `${script} for ${part}`,
    command: venv.python,
    args: ['-u', join(import.meta.dirname, 'drivers', script), ...options.args],
    env: { PYTHONDONTWRITEBYTECODE: '1', HF_HUB_OFFLINE: '1', TINKER_API_KEY: 'tml-conformance', ...options.env },
    cwd: options.cwd,
    deadlineMs,
    log,
    onLine: (line) => {
      if (!line.startsWith('CASE ')) return;
      cases++;
      const { name, passed, detail } = JSON.parse(line.slice(5)) as { name: string; passed: boolean; detail: string };
      report.add({ part, name, passed, detail });
    },
  });
  if (end.code !== 0 || cases === 0) {
    const why =
      cases === 0 ? `reported no case and ${endWords(end, { deadlineMs, log })}` : endWords(end, { deadlineMs, log });
    report.add({ part, name: `${script} comes to its end`, passed: false, detail: `${why}\n${end.tail}` });
  }
  return report.failed === failedBefore;
}
