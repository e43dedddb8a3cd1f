// The Python environment with vLLM's LoRA code: that of `prepare.ts`, and beside it the Python files of vLLM's wheel without
// what they are compiled with, since no GPU is there that could run it. Made once (a download of 340 MB), kept.

import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from '../command.ts';
import { findPython, installerEnvironment } from '../venvs.ts';
import { CACHE, SCRIPTS } from './places.ts';

const VLLM = 'vllm==0.33.0';
const FOLDER = join(CACHE, 'serving');
const STAMP = join(FOLDER, 'tabwright-stamp');
const LOCK = join(SCRIPTS, 'serving-requirements.txt');
export const SERVING_PYTHON = join(FOLDER, 'bin', 'python');

const PIP = ['-m', 'pip', '--quiet', '--no-input', '--disable-pip-version-check'];
/** Of the wheel in argv[1], what argv[2] is to hold. */
const UNPACK =
  'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); ' +
  'z.extractall(sys.argv[2], [n for n in z.namelist() if n.endswith(".py") or ".dist-info/" in n])';

/** Makes it where it is not there. `prepare.ts` has run before. */
export async function ensureServingVenv(): Promise<void> {
  const stamp = `${VLLM}\n${await readFile(LOCK, 'utf8')}`;
  if (existsSync(STAMP) && (await readFile(STAMP, 'utf8')) === stamp) return;
  console.log('The environment with vLLM: being made');
  await rm(FOLDER, { recursive: true, force: true });
  const log = join(CACHE, 'serving.log');
  const common = { env: installerEnvironment(), deadlineMs: 30 * 60_000, log } as const;
  const base = await findPython(log);
  await mustRun({ ...common, what: 'making the environment', command: base, args: ['-m', 'venv', FOLDER] });
  const site = join('lib', 'python3.11', 'site-packages');
  await writeFile(join(FOLDER, site, 'prepared.pth'), `${join(CACHE, 'venv', site)}\n`);
  const run = (what: string, args: readonly string[]): Promise<unknown> =>
    mustRun({ ...common, what, command: SERVING_PYTHON, args });
  // --no-deps: what vLLM asks for would bring CUDA; what its LoRA code needs is in the list.
  await run('pip install', [...PIP, 'install', '--no-deps', '-r', LOCK]);
  const wheels = join(FOLDER, 'wheels');
  await mkdir(wheels);
  await run(`pip download of ${VLLM}`, [...PIP, 'download', '--no-deps', '-d', wheels, VLLM]);
  const [wheel] = await readdir(wheels);
  await run('unpacking', ['-c', UNPACK, join(wheels, wheel), join(FOLDER, site)]);
  await rm(wheels, { recursive: true });
  await writeFile(STAMP, stamp);
}
