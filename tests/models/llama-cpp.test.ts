// GGUF files of SmolLM2 with an adapter folded in, in llama.cpp: F16 continues greedily as transformers does with the
// merged folder, near-ties excused and counted; Q8_0, whose activations llama.cpp rounds too, stays within bounds.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  exportGguf,
  mergedTensors,
  openGguf,
  writeMergedFolder,
  type GgufModel,
  type PeftAdapter,
} from '../../src/engine/index.ts';
import { createGgufTokenizer } from '../../src/tokens/index.ts';
import { createRng } from '../../src/util/index.ts';
import { CONFORMANCE, hasLlamaCpp, hasPython, hasSmolLm2, PYTHON, runJson, SMOLLM2_GGUF } from './support.ts';

const QUESTIONS = [
  'What is the capital of France? Answer in one sentence.',
  'Write a haiku about the sea.',
  'Count from one to ten.',
  'Name three colours of the rainbow.',
];
const TOKENS = 24;
/** Log-probability between the best two tokens below which either may be chosen. */
const NEAR_TIE = 0.01;
/** Of Q8_0 against F16, next token by next token, over every position of the prompts. */
const Q8_AGREEMENT = 0.95;
const Q8_DIVERGENCE = 0.01;

let folder = '';
let model: GgufModel;
let prompts: number[][];
const file = (type: 'F16' | 'Q8_0'): string => join(folder, `${type}.gguf`);

describe.skipIf(!hasSmolLm2 || !hasLlamaCpp || !hasPython)('GGUF files in llama.cpp', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tabwright-llama-'));
    model = await openGguf(SMOLLM2_GGUF);
    const { source, metadata } = model;
    const tokenizer = createGgufTokenizer({ name: 'smollm2', metadata });
    prompts = QUESTIONS.map((question) =>
      tokenizer.encode(`<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`, { control: true }),
    );
    const adapter = randomAdapter();
    const tensors = mergedTensors({ source, adapter });
    const tokenizerKeys = new Map([...metadata].filter(([key]) => key.startsWith('tokenizer.')));
    const config = source.config as Record<string, unknown>;
    const common = { config, tensors, tokenizer: tokenizerKeys, name: 'smollm2' };
    await exportGguf({ ...common, path: file('F16'), type: 'F16' });
    await exportGguf({ ...common, path: file('Q8_0'), type: 'Q8_0' });
    await writeMergedFolder({ path: join(folder, 'merged'), config, tensors });
  }, 600_000);
  afterAll(async () => {
    await model.source.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('continue as the merged folder in transformers, from F16', { timeout: 900_000 }, async () => {
    const expected = await runJson<{ ids: number[]; gaps: number[] }[]>(PYTHON, [join(CONFORMANCE, 'greedy-gaps.py')], {
      model: join(folder, 'merged'),
      prompts,
      tokens: TOKENS,
    });
    const found = await runJson<number[][]>(process.execPath, [join(CONFORMANCE, 'llama-run.mjs')], {
      greedy: { file: file('F16'), prompts, tokens: TOKENS },
    });
    const broken = expected.flatMap(({ ids, gaps }, i) => {
      const at = ids.findIndex((id, t) => id !== found[i][t]);
      return at < 0 || gaps[at] < NEAR_TIE ? [] : [{ prompt: i, at, gap: gaps[at], ids, found: found[i] }];
    });
    expect(broken).toEqual([]);
    const equal = expected.filter(({ ids }, i) => ids.join() === found[i].slice(0, ids.length).join()).length;
    process.stdout.write(
      `F16 in llama.cpp: ${equal} of ${expected.length} continuations equal, the others part at near-ties\n`,
    );
    expect(equal).toBeGreaterThanOrEqual(QUESTIONS.length - 1);
  });

  it('prefer the same tokens from Q8_0 as from F16, with a small divergence', { timeout: 900_000 }, async () => {
    const { positions, agreeing, meanKl } = await runJson<{ positions: number; agreeing: number; meanKl: number }>(
      process.execPath,
      [join(CONFORMANCE, 'llama-run.mjs')],
      { compare: { files: [file('F16'), file('Q8_0')], texts: prompts } },
    );
    process.stdout.write(
      `Q8_0 against F16: ${agreeing} of ${positions} next tokens equal, mean divergence ${meanKl}\n`,
    );
    expect(positions).toBe(prompts.flat().length);
    expect(agreeing / positions).toBeGreaterThan(Q8_AGREEMENT);
    expect(meanKl).toBeGreaterThan(0);
    expect(meanKl).toBeLessThan(Q8_DIVERGENCE);
  });
});

/** Small, on every matrix, both halves non-zero. */
function randomAdapter(): PeftAdapter {
  const { source } = model;
  const rank = 4;
  const tensors = source.names
    .filter((name) => /_proj\.weight$/.test(name))
    .flatMap((name) => {
      const [rows, columns] = source.shapeOf(name);
      const stem = name.replace(/\.weight$/, '');
      const draw = (length: number, scale: number): Float32Array => {
        const rng = createRng('llama-test', 1, name, length);
        return Float32Array.from({ length }, () => (rng.next() - 0.5) * scale);
      };
      return [
        { name: `${stem}.lora_A.weight`, shape: [rank, columns], data: draw(rank * columns, 0.1) },
        { name: `${stem}.lora_B.weight`, shape: [rows, rank], data: draw(rows * rank, 0.02) },
      ];
    });
  return { tensors, rank, alpha: 8, baseModel: null };
}
