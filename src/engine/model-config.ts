// What a decoder-only transformer of this engine is made of, as a strict schema. Keys are the engine's own;
// mapping a Hugging Face config onto them belongs to whoever reads such a file.

import { z } from 'zod';
import { TabwrightError } from '../core/index.ts';

const positive = z.number().int().positive();

export const modelConfigSchema = z
  .strictObject({
    vocabSize: positive,
    hiddenSize: positive,
    layers: positive,
    /** Query heads. */
    heads: positive,
    /** Key and value heads; a divisor of `heads` (grouped-query attention, Ainslie et al. 2023). */
    kvHeads: positive,
    headDim: positive.multipleOf(2),
    intermediateSize: positive,
    ropeTheta: z.number().positive(),
    rmsNormEps: z.number().positive(),
    /** The output head is the embedding table. */
    tieEmbeddings: z.boolean(),
    /**
     * Taps of a depthwise causal convolution over the embeddings, the token itself included: each token's vector also
     * holds those of its predecessors, so that one attention step can compare names. 1 is off.
     */
    taps: z.number().int().min(1).max(8),
    /** Longest sequence, prompt and action together. */
    maxPositions: positive,
  })
  .refine((config) => config.heads % config.kvHeads === 0, 'heads must be a multiple of kvHeads');

export type ModelConfig = Readonly<z.infer<typeof modelConfigSchema>>;

/** Checks a config that came from a file or a user; says every key that is wrong. */
export function parseModelConfig(input: unknown, origin: string): ModelConfig {
  const parsed = modelConfigSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'config'}: ${issue.message}`);
  throw new TabwrightError('config', `The model config of ${origin} is not usable: ${problems.join('; ')}.`, {
    code: 'bad-model-config',
    details: { origin, problems },
  });
}
