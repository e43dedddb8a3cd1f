// Where the tests of model formats find what cannot be committed: SmolLM2 and the oracles. `conformance/models` says
// how each is made; a test whose part is missing is skipped and says so.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CACHE = join(ROOT, '.cache', 'models');

/** SmolLM2-135M-Instruct as transformers dequantised it, with the GGUF that it came from. */
export const SMOLLM2 = join(CACHE, 'smollm2');
export const SMOLLM2_GGUF = join(SMOLLM2, 'SmolLM2-135M-Instruct.Q4_1.gguf');
export const hasSmolLm2 = existsSync(SMOLLM2_GGUF) && existsSync(join(SMOLLM2, 'model.safetensors'));

/** A Python with torch, transformers, peft, safetensors and gguf. */
export const PYTHON = join(CACHE, 'venv', 'bin', 'python');
export const hasPython = existsSync(PYTHON);

/** llama.cpp for Node, as conformance/models/package.json has it. */
export const CONFORMANCE = join(ROOT, 'conformance', 'models');
export const hasLlamaCpp = existsSync(join(CONFORMANCE, 'node_modules', 'node-llama-cpp'));

/** Runs a program that reads JSON and writes JSON. */
export async function runJson<T>(command: string, args: readonly string[], input: unknown): Promise<T> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], cwd: CONFORMANCE });
  child.stdin.end(JSON.stringify(input));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${child.exitCode}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
