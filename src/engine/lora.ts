// Low-rank adapters (Hu et al. 2021): W x + (alpha / rank) B A x on chosen matrices. This file lays the adapter
// weights out and folds them into the base; where they enter the graph is `transformer.ts`.

import { z } from 'zod';
import { TabwrightError, type LoraOptions } from '../core/index.ts';
import { type Weights, type WeightSpec } from './weights.ts';

const ATTENTION_TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj'] as const;
const MLP_TARGETS = ['gate_proj', 'up_proj', 'down_proj'] as const;
/** An output head of its own; where the head is the embedding table there is no such matrix. */
const UNEMBED_TARGETS = ['lm_head'] as const;
export const LORA_TARGETS = [...ATTENTION_TARGETS, ...MLP_TARGETS, ...UNEMBED_TARGETS] as const;

const DEFAULT_ALPHA = 32;

export const loraConfigSchema = z.strictObject({
  rank: z.number().int().positive(),
  /** The product is scaled by alpha / rank. */
  alpha: z.number().positive(),
  targetModules: z.array(z.enum(LORA_TARGETS)).min(1),
});

export type LoraConfig = Readonly<z.infer<typeof loraConfigSchema>>;

/** One adapted matrix. */
export type LoraPart = {
  /** Engine name of the matrix [rows, columns]. */
  readonly weight: string;
  readonly rows: number;
  readonly columns: number;
  /** Names of A [rank, columns] and B [rows, rank] among the adapter weights. */
  readonly a: string;
  readonly b: string;
};

/** The adapted matrices of a model, in storage order. */
export function loraParts(specs: readonly WeightSpec[], lora: LoraConfig): LoraPart[] {
  return specs.flatMap(({ name, tensor, shape }) => {
    const module = tensor.split('.').at(-2)!;
    if (shape.length !== 2 || !(lora.targetModules as readonly string[]).includes(module)) return [];
    const stem = tensor.replace(/\.weight$/, '');
    const [rows, columns] = shape;
    return [{ weight: name, rows, columns, a: `${stem}.lora_A.weight`, b: `${stem}.lora_B.weight` }];
  });
}

/** Adapter weights: A random, B zero, so that training starts at the base model. */
export function loraSpecs(parts: readonly LoraPart[], lora: LoraConfig): WeightSpec[] {
  return parts.flatMap(({ a, b, rows, columns }) => [
    // Kaiming-uniform with a = sqrt(5) has this standard deviation; the reference implementation uses it.
    {
      name: a,
      tensor: a,
      shape: [lora.rank, columns],
      init: { mean: 0, std: 1 / Math.sqrt(3 * columns) },
    },
    { name: b, tensor: b, shape: [rows, lora.rank], init: { mean: 0, std: 0 } },
  ]);
}

/** Adds `sign` times the adapters' product to the base weights in place: +1 merges, -1 unmerges. */
export function mergeLora(
  base: Weights,
  adapters: Weights,
  parts: readonly LoraPart[],
  lora: LoraConfig,
  sign: 1 | -1 = 1,
): void {
  const scale = (sign * lora.alpha) / lora.rank;
  for (const part of parts) {
    const target = base.view(part.weight);
    const a = adapters.view(part.a);
    const b = adapters.view(part.b);
    for (let row = 0; row < part.rows; row++) {
      for (let column = 0; column < part.columns; column++) {
        let sum = 0;
        for (let k = 0; k < lora.rank; k++) sum += b[row * lora.rank + k] * a[k * part.columns + column];
        target[row * part.columns + column] += scale * sum;
      }
    }
  }
}

/** Tinker's way of saying which matrices, in the engine's. */
export function loraConfigOf(options: LoraOptions): LoraConfig {
  const { rank, alpha = DEFAULT_ALPHA, trainAttention = true, trainMlp = true, trainUnembed = true } = options;
  return parseLoraConfig({
    rank,
    alpha,
    targetModules: [
      ...(trainAttention ? ATTENTION_TARGETS : []),
      ...(trainMlp ? MLP_TARGETS : []),
      ...(trainUnembed ? UNEMBED_TARGETS : []),
    ],
  });
}

export function parseLoraConfig(input: unknown): LoraConfig {
  const parsed = loraConfigSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'lora'}: ${issue.message}`);
  throw new TabwrightError('config', `The LoRA settings are not usable: ${problems.join('; ')}.`, {
    code: 'bad-lora-config',
    details: { problems },
  });
}
