// Where the oracles of model formats lie and how they are asked: SmolLM2, Python and llama.cpp, made by `prepare.ts` and
// never committed. Tests and commands whose part is missing look here and say so.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** This folder, with the scripts of both oracles. */
export const SCRIPTS = import.meta.dirname;
export const CACHE = join(SCRIPTS, '..', '..', '.cache', 'models');

/** SmolLM2-135M-Instruct as transformers dequantised it, with the GGUF that it came from. */
export const SMOLLM2 = join(CACHE, 'smollm2');
export const SMOLLM2_GGUF = join(SMOLLM2, 'SmolLM2-135M-Instruct.Q4_1.gguf');
export const hasSmolLm2 = existsSync(SMOLLM2_GGUF) && existsSync(join(SMOLLM2, 'model.safetensors'));

/** A Python with torch, transformers, peft, safetensors and gguf. */
export const PYTHON = join(CACHE, 'venv', 'bin', 'python');
export const PYTHON_STAMP = join(CACHE, 'venv', 'tabwright-stamp');
export const hasPython = existsSync(PYTHON_STAMP);

/** llama.cpp for Node, as package.json of this folder has it. npm writes this file when all else is there. */
export const hasLlamaCpp = existsSync(join(SCRIPTS, 'node_modules', '.package-lock.json'));

/** For commands, which have nothing to say without the oracles. */
export function requireOracles(): void {
  if (hasSmolLm2 && hasPython && hasLlamaCpp) return;
  throw new Error('The oracles are not here. Make them first: npx tsx conformance/models/prepare.ts');
}

/** Runs a script of this folder that reads JSON and writes JSON. */
export async function ask<T>(script: string, { args = [], input, python = PYTHON }: Question): Promise<T> {
  const command = script.endsWith('.py') ? python : process.execPath;
  const child = spawn(command, [join(SCRIPTS, script), ...args], { stdio: ['pipe', 'pipe', 'pipe'], cwd: SCRIPTS });
  child.stdin.end(JSON.stringify(input));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`${script} ${args.join(' ')} ended with ${child.exitCode}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

export type Question = {
  readonly args?: readonly string[];
  readonly input: unknown;
  /** Default: that of `prepare.ts`. */
  readonly python?: string;
};
