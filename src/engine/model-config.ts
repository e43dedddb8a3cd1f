// What a decoder-only transformer of this engine is made of, as a strict schema. Keys are the engine's own;
// mapping a Hugging Face config onto them belongs to whoever reads such a file.

import { z } from 'zod';
import { TabwrightError } from '../core/index.ts';

const positive = z.number().int().positive();
const yes = z.literal(true).optional();

/** Frequencies of rotary positions beyond the plain ones (Su et al. 2021). */
const ropeScalingSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('linear'), factor: z.number().positive() }),
  /** Slow frequencies are divided by `factor`, fast ones kept, those between blended (Llama 3.1). */
  z.strictObject({
    type: z.literal('llama3'),
    factor: z.number().positive(),
    lowFreqFactor: z.number().positive(),
    highFreqFactor: z.number().positive(),
    originalMaxPositions: positive,
  }),
]);

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
    /** Angles in single precision, as the code that pretrained models were made with has them. Default double. */
    ropeSinglePrecision: yes,
    ropeScaling: ropeScalingSchema.optional(),
    /** Biases of the query, key and value projections, of the one after attention, and of the gated unit. */
    qkvBias: yes,
    outputBias: yes,
    mlpBias: yes,
    /** Norms over the head size on queries and keys, before they are rotated. */
    qkNorm: yes,
    /** Further norms on what attention and the gated unit give, before it is added to the stream. */
    sandwichNorms: yes,
    /** Norms multiply by 1 + w instead of w. */
    normsAddOne: yes,
    /** Default `silu`. */
    activation: z.literal('gelu-tanh').optional(),
    /** Factor on the embeddings. Default 1. */
    embeddingScale: z.number().positive().optional(),
    /** Factor on attention scores. Default the head size to the power of -1/2. */
    attentionScale: z.number().positive().optional(),
    /** c tanh(logits / c). */
    finalSoftcap: z.number().positive().optional(),
    /** Layers that see a token and the `window` - 1 before it, with a rotary base of their own. */
    sliding: z
      .strictObject({
        window: positive,
        layers: z.array(z.number().int().nonnegative()).min(1),
        ropeTheta: z.number().positive(),
        /** Whether `ropeScaling` holds for these layers too. */
        ropeScaled: yes,
      })
      .optional(),
  })
  .refine((config) => config.heads % config.kvHeads === 0, 'heads must be a multiple of kvHeads');

export type ModelConfig = Readonly<z.infer<typeof modelConfigSchema>>;

export type RopeScaling = z.infer<typeof ropeScalingSchema>;

/** Whether a layer sees only the last tokens. */
export function isSliding({ sliding }: ModelConfig, layer: number): boolean {
  return sliding?.layers.includes(layer) ?? false;
}

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
