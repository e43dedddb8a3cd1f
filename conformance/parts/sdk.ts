// Part A: the official Python SDK, in three generations, against our server; and what the newest one downloaded, in
// PEFT and torch. Each generation gets a server of its own, so that a leak of one is no state of the next.

import { join } from 'node:path';
import type { Context } from '../context.ts';
import { BASE_MODEL, startOurServer } from '../our-server.ts';
import { runDriver } from '../python-driver.ts';
import { ensureHub, TORCH_VENV } from '../tiny-model.ts';
import type { VenvName } from '../venvs.ts';

export async function sdkPart(context: Context, version: '0.38.0' | '0.25.0' | '0.24.1'): Promise<void> {
  const name: VenvName = `sdk-${version}`;
  const part = `sdk ${version}`;
  const venv = await context.venv(name);
  const hub = await ensureHub(context);
  const out = join(context.work, name);
  await using server = await startOurServer({
    model: hub.model,
    folder: join(context.work, `served-${name}`),
    log: join(context.logs, `server-${name}.log`),
  });
  const common = { report: context.report, cwd: hub.folder, logs: context.logs } as const;
  await runDriver({
    ...{ ...common, part, venv, script: 'sdk.py', deadlineMs: 900_000 },
    args: ['--base-url', server.url, '--base-model', BASE_MODEL, '--out', out, '--expect-version', version],
  });
  await context.report.check(part, 'the server counted the work that the SDK asked for', async () => {
    const counts = await Promise.all(['forward_backward', 'optim_step', 'sample'].map((kind) => server.finished(kind)));
    if (counts.some((count) => count === 0))
      throw new Error(`forward_backward, optim_step, sample: ${counts.join(', ')}`);
    return `${counts[0]} forward_backward, ${counts[1]} optim_step, ${counts[2]} samples`;
  });
  await context.report.check(part, 'SIGTERM ends the server with code 0', async () => {
    const code = await server.stop();
    if (code !== 0) throw new Error(`code ${code}`);
  });
  await runDriver({
    ...{ ...common, part: `${part} in PEFT`, venv: await context.venv(TORCH_VENV), script: 'torch_reference.py' },
    ...{ args: ['--model', hub.model, '--out', out], deadlineMs: 300_000 },
  });
}
