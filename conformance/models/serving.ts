// Adapter folders as `model export --adapter` writes them, in vLLM's own loading code on the CPU: every tensor taken over,
// scale and products as PEFT has them, folders that are wrong refused. What of vLLM is run, and what not: serving-vllm.py.
// Usage: npx tsx conformance/models/serving.ts      (after prepare.ts; makes an environment of its own once)

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, requireOracles } from './places.ts';
import { writeServingFolders } from './serving-folders.ts';
import { ensureServingVenv, SERVING_PYTHON } from './serving-venv.ts';

type Taken = { readonly matrices: number; readonly tensors: number; readonly error: number };
type Answers = {
  readonly version: string;
  readonly jobs: readonly (Taken | { readonly refused: string })[];
  readonly broken: readonly (string | null)[];
};

const MOST_ERROR = 1e-5;
/** vLLM's classes of these models name no head that adapters may change. */
const REFUSED_HEADS = new Set(['qwen2+head', 'gemma3+head']);

requireOracles();
await ensureServingVenv();
let [passed, failed] = [0, 0];
const folder = await mkdtemp(join(tmpdir(), 'tabwright-serving-'));
try {
  const { jobs, broken } = await writeServingFolders(folder);
  const answers = await ask<Answers>('serving-vllm.py', { input: { jobs, broken }, python: SERVING_PYTHON });
  console.log(`vLLM ${answers.version}`);
  for (const [i, { name }] of jobs.entries()) {
    const answer = answers.jobs[i];
    if ('refused' in answer)
      check(`${name}: refused: ${answer.refused}`, REFUSED_HEADS.has(name) && /lm_head/.test(answer.refused));
    else {
      const { tensors, matrices, error } = answer;
      const line = `${name}: ${tensors} tensors of ${matrices} matrices, difference from PEFT ${error.toExponential(1)}`;
      check(line, !REFUSED_HEADS.has(name) && matrices > 0 && error <= MOST_ERROR);
    }
  }
  for (const [i, { name }] of broken.entries())
    check(`${name}: ${answers.broken[i] ?? 'taken'}`, answers.broken[i] !== null);
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function check(line: string, holds: boolean): void {
  console.log(`${holds ? 'ok    ' : 'FAILED'} ${line}`);
  if (holds) passed++;
  else failed++;
}
