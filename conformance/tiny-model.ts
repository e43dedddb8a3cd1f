// The tiny model that everything runs on, in a folder laid out like a hub, because tinker-cookbook and the SDK look
// up a model's tokenizer and their data sets by a hub's names, relative to the working directory.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mustRun } from './command.ts';
import type { Context } from './context.ts';
import { BASE_MODEL } from './our-server.ts';
import { QUESTIONS, questionFiles, tokenizerText } from './questions.ts';
import type { VenvName } from './venvs.ts';

/** Has torch, transformers and peft. */
export const TORCH_VENV: VenvName = 'sdk-0.38.0';

export type Hub = {
  /** Working directory for Python programs. */
  readonly folder: string;
  /** Absolute path of the model in it. */
  readonly model: string;
};

/** Made once a run, with the same seed every time. */
export async function ensureHub(context: Context): Promise<Hub> {
  const folder = join(context.work, 'hub');
  const hub = { folder, model: join(folder, ...BASE_MODEL.split('/')) };
  const known = await readFile(join(hub.model, 'config.json')).catch(() => undefined);
  if (known !== undefined) return hub;
  const files: Readonly<Record<string, string>> = {
    ...questionFiles(QUESTIONS),
    'corpus.txt': tokenizerText(QUESTIONS),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const venv = await context.venv(TORCH_VENV);
  await mustRun({
    what: 'making the tiny model',
    command: venv.python,
    args: [
      ...[join(import.meta.dirname, 'drivers', 'make_model.py'), '--out', hub.model],
      ...['--corpus', join(folder, 'corpus.txt')],
    ],
    deadlineMs: 120_000,
    log: join(context.logs, 'make-model.log'),
  });
  return hub;
}
