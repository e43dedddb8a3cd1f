// A Hugging Face config.json to the engine's model config. Both spellings of the rotary keys are read; a key that would
// change the result and is not built is refused by name, and so is one that nobody here knows. Which keys change what
// was measured on transformers 5.24.

import { z } from 'zod';
import { TabwrightError } from '../core/index.ts';
import { parseModelConfig, type ModelConfig, type RopeScaling } from './model-config.ts';

const FAMILIES = ['llama', 'qwen2', 'qwen3', 'gemma3_text'] as const;
export type ModelFamily = (typeof FAMILIES)[number];

/** Keys that say nothing about what a forward pass computes. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  ...['architectures', 'model_type', 'transformers_version', 'name_or_path', 'torch_dtype', 'dtype'],
  ...['bos_token_id', 'eos_token_id', 'pad_token_id', 'unk_token_id', 'use_cache', 'initializer_range'],
  ...['attention_dropout', 'pretraining_tp', 'is_llama_config', 'transformers.js_config', 'cache_implementation'],
  ...['output_attentions', 'output_hidden_states', 'return_dict', 'chunk_size_feed_forward', 'is_encoder_decoder'],
  ...['id2label', 'label2id', 'problem_type', 'tokenizer_class', 'task_specific_params', 'auto_map', 'unsloth_fixed'],
  ...['partial_rotary_factor', 'attn_implementation'],
]);

const positive = z.number().int().positive();
/** JSON's null is how configs say "not here". */
const maybe = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? undefined);

const ropeSchema = z.looseObject({
  rope_type: maybe(z.string()),
  type: maybe(z.string()),
  rope_theta: maybe(z.number().positive()),
  factor: maybe(z.number().positive()),
  low_freq_factor: maybe(z.number().positive()),
  high_freq_factor: maybe(z.number().positive()),
  original_max_position_embeddings: maybe(positive),
});
type Rope = z.output<typeof ropeSchema>;

const configSchema = z.looseObject({
  model_type: z.string(),
  vocab_size: positive,
  hidden_size: positive,
  num_hidden_layers: positive,
  num_attention_heads: positive,
  num_key_value_heads: maybe(positive),
  head_dim: maybe(positive),
  intermediate_size: positive,
  rms_norm_eps: maybe(z.number().positive()),
  hidden_act: maybe(z.string()),
  hidden_activation: maybe(z.string()),
  max_position_embeddings: positive,
  tie_word_embeddings: maybe(z.boolean()),
  attention_bias: maybe(z.boolean()),
  mlp_bias: maybe(z.boolean()),
  rope_theta: maybe(z.number().positive()),
  rope_scaling: maybe(ropeSchema),
  rope_parameters: maybe(z.record(z.string(), z.unknown())),
  rope_local_base_freq: maybe(z.number().positive()),
  rope_interleaved: maybe(z.literal(false)),
  use_sliding_window: maybe(z.boolean()),
  sliding_window: maybe(positive),
  sliding_window_pattern: maybe(positive),
  max_window_layers: maybe(z.number().int().nonnegative()),
  layer_types: maybe(z.array(z.string())),
  query_pre_attn_scalar: maybe(z.number().positive()),
  final_logit_softcapping: maybe(z.number().positive()),
  use_bidirectional_attention: maybe(z.literal(false)),
  // Gemma 3 reads it and does nothing with it; what the author meant by a value is anybody's guess.
  attn_logit_softcapping: maybe(z.never()),
});
type Config = z.output<typeof configSchema>;

export type HuggingFaceConfigOptions = {
  /** The file, for messages. */
  readonly origin: string;
  /** Longest sequence; shorter than the model's takes less memory. Default the model's. */
  readonly contextLength?: number;
};

export function parseHuggingFaceConfig(
  input: unknown,
  options: HuggingFaceConfigOptions,
): { readonly family: ModelFamily; readonly config: ModelConfig } {
  const { origin } = options;
  const family = familyOf(input, origin);
  const parsed = configSchema.safeParse(input);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'config'}: ${message}`);
    throw refusal(
      origin,
      `is not one that can be computed here: ${problems.join('; ')}.`,
      'bad-model-config',
      problems,
    );
  }
  const config = parsed.data;
  refuseUnknown(config, origin);
  const layers = config.num_hidden_layers;
  const heads = config.num_attention_heads;
  if (config.layer_types && config.layer_types.length !== layers)
    throw refusal(origin, `has ${config.layer_types.length} layer_types for ${layers} layers.`, 'bad-model-config');
  const positions = Math.min(config.max_position_embeddings, options.contextLength ?? Infinity);
  const gemma = family === 'gemma3_text';
  const biased = config.attention_bias ?? false;
  const headDim = config.head_dim ?? { llama: 0, qwen2: 0, qwen3: 128, gemma3_text: 256 }[family];
  const rope = ropes(config, family, origin);
  const sliding = slidingOf(config, family, origin);
  const model = parseModelConfig(
    {
      vocabSize: config.vocab_size,
      hiddenSize: config.hidden_size,
      layers,
      heads,
      kvHeads: config.num_key_value_heads ?? keyHeads(family, heads, origin),
      headDim: headDim || config.hidden_size / heads,
      intermediateSize: config.intermediate_size,
      ropeTheta: rope.full.theta,
      rmsNormEps: config.rms_norm_eps ?? 1e-6,
      tieEmbeddings: config.tie_word_embeddings ?? gemma,
      taps: 1,
      maxPositions: positions,
      ropeSinglePrecision: true,
      ropeScaling: rope.full.scaling,
      qkvBias: family === 'qwen2' || biased || undefined,
      outputBias: (family !== 'qwen2' && biased) || undefined,
      mlpBias: (family === 'llama' && config.mlp_bias) || undefined,
      qkNorm: family === 'qwen3' || gemma || undefined,
      sandwichNorms: gemma || undefined,
      normsAddOne: gemma || undefined,
      activation: activationOf(config, family, origin),
      embeddingScale: gemma ? Math.fround(Math.sqrt(config.hidden_size)) : undefined,
      attentionScale: gemma ? (config.query_pre_attn_scalar ?? 256) ** -0.5 : undefined,
      finalSoftcap: gemma ? config.final_logit_softcapping : undefined,
      sliding: sliding && { ...sliding, ropeTheta: rope.local.theta, ropeScaled: gemma ? undefined : true },
    },
    origin,
  );
  // Keys without a value would not be equal to keys that are not there when a saved model is read again.
  return { family, config: JSON.parse(JSON.stringify(model)) as ModelConfig };
}

function familyOf(input: unknown, origin: string): ModelFamily {
  const name: unknown =
    typeof input === 'object' && input !== null && 'model_type' in input ? input.model_type : undefined;
  const family = FAMILIES.find((candidate) => candidate === name);
  if (family) return family;
  throw refusal(
    origin,
    `has the architecture "${String(name)}"; built are ${FAMILIES.join(', ')}.`,
    'architecture-not-supported',
  );
}

function refuseUnknown(config: Config, origin: string): void {
  const known = new Set([...Object.keys(configSchema.shape), ...WITHOUT_EFFECT]);
  const unknown = Object.entries(config).filter(
    // Names with a leading underscore are notes of whoever wrote the file.
    ([key, value]) =>
      !known.has(key) && !key.startsWith('_') && value !== null && value !== undefined && value !== false,
  );
  if (unknown.length === 0) return;
  const keys = unknown.map(([key, value]) => `${key} (${JSON.stringify(value)})`);
  throw refusal(
    origin,
    `has keys that may change what the model computes and are not known here: ${keys.join(', ')}. If they do not, remove them.`,
    'config-key-not-supported',
    keys,
  );
}

function keyHeads(family: ModelFamily, heads: number, origin: string): number {
  if (family === 'llama') return heads;
  throw refusal(origin, 'lacks num_key_value_heads.', 'bad-model-config');
}

function activationOf(config: Config, family: ModelFamily, origin: string): 'gelu-tanh' | undefined {
  const gemma = family === 'gemma3_text';
  const key = gemma ? 'hidden_activation' : 'hidden_act';
  const name = config[key] ?? (gemma ? 'gelu_pytorch_tanh' : 'silu');
  if (name === 'silu') return undefined;
  if (name === 'gelu_pytorch_tanh') return 'gelu-tanh';
  throw refusal(origin, `has ${key} "${name}"; built are silu and gelu_pytorch_tanh.`, 'config-key-not-supported', [
    key,
  ]);
}

/** Which layers slide. Llama reads none of these keys; Qwen reads them only when its flag is on. */
function slidingOf(
  config: Config,
  family: ModelFamily,
  origin: string,
): { readonly window: number; readonly layers: readonly number[] } | undefined {
  const { num_hidden_layers: count, layer_types: types, sliding_window: window } = config;
  const all = Array.from({ length: count }, (_, layer) => layer);
  const choose = (): { readonly window: number; readonly layers: readonly number[] } | undefined => {
    const unknown = types?.find((type) => type !== 'full_attention' && type !== 'sliding_attention');
    if (unknown !== undefined)
      throw refusal(origin, `has the layer type "${unknown}", which is not built.`, 'config-key-not-supported', [
        'layer_types',
      ]);
    if (family === 'gemma3_text') {
      const pattern = config.sliding_window_pattern ?? 6;
      const layers = all.filter((layer) =>
        types ? types[layer] === 'sliding_attention' : (layer + 1) % pattern !== 0,
      );
      return { window: window ?? 4096, layers };
    }
    if (family === 'llama' || !config.use_sliding_window || window === undefined) return undefined;
    const first = config.max_window_layers ?? 28;
    return { window, layers: all.filter((layer) => (types ? types[layer] === 'sliding_attention' : layer >= first)) };
  };
  const chosen = choose();
  return chosen && chosen.layers.length > 0 ? chosen : undefined;
}

type LayerRope = { readonly theta: number; readonly scaling: RopeScaling | undefined };

/** Rotary positions of full and of sliding layers. */
function ropes(
  config: Config,
  family: ModelFamily,
  origin: string,
): { readonly full: LayerRope; readonly local: LayerRope } {
  const gemma = family === 'gemma3_text';
  const given = config.rope_parameters;
  const read = (value: unknown): Rope => {
    const parsed = ropeSchema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw refusal(origin, 'has rope_parameters that are not understood.', 'bad-model-config', ['rope_parameters']);
  };
  const defaultTheta = gemma ? 1e6 : 1e4;
  const [full, local] = ((): [Rope, Rope] => {
    if (given && ('full_attention' in given || 'sliding_attention' in given))
      return [read(given['full_attention'] ?? {}), read(given['sliding_attention'] ?? {})];
    if (given) return [read(given), read(given)];
    // The reference ignores the older key `type` for Gemma; a model that has it was not meant to be read that way.
    const scaling = config.rope_scaling;
    if (gemma && scaling?.type !== undefined && scaling.rope_type === undefined)
      throw refusal(
        origin,
        'has rope_scaling with the old key "type"; name it "rope_type".',
        'config-key-not-supported',
        ['rope_scaling.type'],
      );
    return [{ ...read(scaling ?? {}), rope_theta: config.rope_theta }, {} as Rope];
  })();
  const fullRope = { theta: full.rope_theta ?? config.rope_theta ?? defaultTheta, scaling: scalingOf(full, origin) };
  if (!gemma) return { full: fullRope, local: fullRope };
  const localScaling = scalingOf(local, origin);
  if (localScaling)
    throw refusal(
      origin,
      'scales the rotary positions of sliding layers, which is not built.',
      'config-key-not-supported',
      ['rope_parameters.sliding_attention'],
    );
  return {
    full: fullRope,
    local: { theta: local.rope_theta ?? config.rope_local_base_freq ?? 1e4, scaling: undefined },
  };
}

function scalingOf(rope: Rope, origin: string): RopeScaling | undefined {
  const type = rope.rope_type ?? rope.type ?? 'default';
  const need = (key: string): number => {
    const value = rope[key];
    if (typeof value === 'number') return value;
    throw refusal(origin, `has rotary positions of type "${type}" without ${key}.`, 'bad-model-config', [key]);
  };
  // Dynamic scaling begins beyond max_position_embeddings, which is never reached here.
  if (type === 'default' || type === 'dynamic') return undefined;
  if (type === 'linear') return { type, factor: need('factor') };
  if (type === 'llama3') {
    return {
      type,
      factor: need('factor'),
      lowFreqFactor: need('low_freq_factor'),
      highFreqFactor: need('high_freq_factor'),
      originalMaxPositions: need('original_max_position_embeddings'),
    };
  }
  const message = `has rotary positions of type "${type}"; built are default, linear, llama3 and dynamic.`;
  throw refusal(origin, message, 'config-key-not-supported', ['rope_type']);
}

function refusal(origin: string, what: string, code: string, keys: readonly string[] = []): TabwrightError {
  return new TabwrightError('config', `The model config of ${origin} ${what}`, {
    code,
    details: { origin, keys: [...keys] },
  });
}
