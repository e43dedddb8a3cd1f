// GGUF metadata to a config in Hugging Face's spelling and back. A key that may change what a model computes and is
// not understood is refused by name; what the engine makes of the config is its own business.

import { TabwrightError } from '../../core/index.ts';
import { GGUF_ARCHITECTURES, type GgufArchitecture } from './gguf-names.ts';
import type { GgufEntry, GgufMetadata } from './gguf-types.ts';
import type { Llama3Rope } from './rope-factors.ts';

/** Facts about the file's tensors that metadata do not state. */
export type TensorFacts = {
  readonly vocabSize: number;
  readonly hasOutputMatrix: boolean;
  readonly hasAttentionBias: boolean;
  readonly hasMlpBias: boolean;
  readonly llama3Rope?: Llama3Rope;
};

/** What llama.cpp takes for Gemma 3 where a file does not say it: every sixth layer is full, local layers have this base. */
const GEMMA_PATTERN = 6;
const GEMMA_LOCAL_THETA = 10_000;

/** Keys after `<architecture>.` that are read below, or that do not matter. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'vocab_size',
  'context_length',
  'embedding_length',
  'block_count',
  'feed_forward_length',
  'attention.head_count',
  'attention.head_count_kv',
  'attention.key_length',
  'attention.value_length',
  'attention.layer_norm_rms_epsilon',
  'attention.sliding_window',
  'attention.sliding_window_pattern',
  'rope.dimension_count',
  'rope.freq_base',
  'rope.freq_base_swa',
  'rope.scaling.type',
  'rope.scaling.factor',
  'rope.scaling.original_context_length',
  'rope.scaling.finetuned',
  'final_logit_softcapping',
]);

const GEMMA_KEYS = [
  'attention.sliding_window',
  'attention.sliding_window_pattern',
  'rope.freq_base_swa',
  'final_logit_softcapping',
] as const;

/** Of the part of a Gemma 3 file that looks at pictures, which text does not pass. */
const PICTURES = /^(?:vision|mm)\./;

export function ggufArchitecture(metadata: GgufMetadata, path: string): GgufArchitecture {
  const name = metadata.get('general.architecture')?.value;
  if (typeof name === 'string' && Object.hasOwn(GGUF_ARCHITECTURES, name)) return name as GgufArchitecture;
  const known = Object.keys(GGUF_ARCHITECTURES).join(', ');
  throw new TabwrightError('config', `${path} has the architecture "${String(name)}"; read here are ${known}.`, {
    code: 'architecture-not-supported',
    details: { path, architecture: String(name) },
  });
}

export function huggingFaceConfigOf(metadata: GgufMetadata, facts: TensorFacts, path: string): Record<string, unknown> {
  const architecture = ggufArchitecture(metadata, path);
  const read = new MetadataReader(metadata, architecture, path);
  for (const key of metadata.keys()) {
    const own = key.startsWith(`${architecture}.`) ? key.slice(architecture.length + 1) : undefined;
    if (own === undefined || KNOWN_KEYS.has(own) || (architecture === 'gemma3' && PICTURES.test(own))) continue;
    throw read.unknownKey(own);
  }
  const width = read.number('embedding_length');
  const heads = read.number('attention.head_count');
  const layers = read.number('block_count');
  const headDim = read.optional('attention.key_length') ?? width / heads;
  for (const [key, expected] of [
    ['attention.value_length', headDim],
    ['rope.dimension_count', headDim],
  ] as const) {
    const value = read.optional(key) ?? expected;
    if (value !== expected) throw read.notSupported(key, value, `only ${expected}, the width of a head, is read here`);
  }
  const theta = read.optional('rope.freq_base') ?? 10_000;
  const config: Record<string, unknown> = {
    model_type: GGUF_ARCHITECTURES[architecture],
    architectures: [CLASSES[architecture]],
    vocab_size: facts.vocabSize,
    hidden_size: width,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: read.optional('attention.head_count_kv') ?? heads,
    head_dim: headDim,
    intermediate_size: read.number('feed_forward_length'),
    max_position_embeddings: read.number('context_length'),
    rms_norm_eps: shortest(read.number('attention.layer_norm_rms_epsilon')),
    rope_theta: theta,
    tie_word_embeddings: !facts.hasOutputMatrix,
    // Qwen 2 always has its biases and no switch for them.
    ...(architecture === 'qwen2' ? {} : { attention_bias: facts.hasAttentionBias }),
    ...(architecture === 'llama' ? { mlp_bias: facts.hasMlpBias } : {}),
    ...(architecture === 'gemma3' ? {} : { hidden_act: 'silu' }),
    ...tokenIds(metadata),
  };
  const scaling = ropeScaling(read, facts);
  if (scaling) config.rope_scaling = scaling;
  if (architecture === 'gemma3') return { ...config, ...gemmaConfig(read, { layers, headDim, width, heads }) };
  for (const key of GEMMA_KEYS) {
    const value = read.optional(key);
    if (value !== undefined) throw read.notSupported(key, value, 'it is read for gemma3 only');
  }
  return config;
}

type GemmaShape = {
  readonly layers: number;
  readonly headDim: number;
  readonly width: number;
  readonly heads: number;
};

function gemmaConfig(read: MetadataReader, { layers, headDim, width, heads }: GemmaShape): Record<string, unknown> {
  const window = read.optional('attention.sliding_window') ?? 0;
  const pattern = read.optional('attention.sliding_window_pattern') ?? GEMMA_PATTERN;
  // As llama.cpp has it: without a window every layer is full, and a pattern of 0 has no full one.
  const isFull = (layer: number): boolean => window === 0 || (pattern > 0 && (layer + 1) % pattern === 0);
  return {
    hidden_activation: 'gelu_pytorch_tanh',
    sliding_window: window === 0 ? null : window,
    layer_types: Array.from({ length: layers }, (_, i) => (isFull(i) ? 'full_attention' : 'sliding_attention')),
    rope_local_base_freq: read.optional('rope.freq_base_swa') ?? GEMMA_LOCAL_THETA,
    // llama.cpp derives the scale from the heads' width, but for the 27B model, which is the one of 62 layers.
    query_pre_attn_scalar: layers === 62 ? Math.floor(width / heads) : headDim,
    final_logit_softcapping: read.optional('final_logit_softcapping') ?? null,
    attn_logit_softcapping: null,
    use_bidirectional_attention: false,
  };
}

const CLASSES: Readonly<Record<GgufArchitecture, string>> = {
  llama: 'LlamaForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  gemma3: 'Gemma3ForCausalLM',
};

function ropeScaling(read: MetadataReader, { llama3Rope }: TensorFacts): Record<string, unknown> | undefined {
  const type = read.text('rope.scaling.type') ?? 'none';
  if (llama3Rope) {
    if (type !== 'none') throw read.notSupported('rope.scaling.type', type, 'beside factors in rope_freqs.weight');
    return {
      rope_type: 'llama3',
      factor: llama3Rope.factor,
      low_freq_factor: llama3Rope.lowFrequencyFactor,
      high_freq_factor: llama3Rope.highFrequencyFactor,
      original_max_position_embeddings: llama3Rope.originalPositions,
    };
  }
  if (type === 'none') return undefined;
  if (type === 'linear') return { rope_type: 'linear', factor: read.number('rope.scaling.factor') };
  if (type === 'yarn') {
    return {
      rope_type: 'yarn',
      factor: read.number('rope.scaling.factor'),
      original_max_position_embeddings: read.number('rope.scaling.original_context_length'),
    };
  }
  throw read.notSupported('rope.scaling.type', type, 'read are none, linear and yarn');
}

function tokenIds(metadata: GgufMetadata): Record<string, unknown> {
  const id = (key: string): Record<string, unknown> => {
    const value = metadata.get(`tokenizer.ggml.${key}_token_id`)?.value;
    return typeof value === 'number' ? { [`${key === 'padding' ? 'pad' : key}_token_id`]: value } : {};
  };
  return { ...id('bos'), ...id('eos'), ...id('padding') };
}

/** The shortest decimal that is this 32-bit float: files hold 1e-5 as 9.999999747e-6. */
export function shortest(value: number): number {
  for (let digits = 1; digits < 10; digits++) {
    const decimal = Number(value.toPrecision(digits));
    if (Math.fround(decimal) === value) return decimal;
  }
  return value;
}

/** Metadata of a model whose config is in Hugging Face's spelling. The tokenizer's are not among them. */
export function ggufMetadataOf(
  config: Readonly<Record<string, unknown>>,
  { name, fileType }: { readonly name: string; readonly fileType: number },
): Map<string, GgufEntry> {
  const architecture = architectureOf(config);
  const entries = new Map<string, GgufEntry>();
  const put = (key: string, type: 'uint32' | 'float32' | 'string', value: unknown): void => {
    if (typeof value !== (type === 'string' ? 'string' : 'number')) {
      const message = `The model config has ${key} = ${JSON.stringify(value)}; a GGUF file needs a ${type} there.`;
      throw new TabwrightError('config', message, { code: 'config-not-exportable', details: { key } });
    }
    entries.set(key, { type, value: value as string | number });
  };
  const own = (key: string, type: 'uint32' | 'float32' | 'string', value: unknown): void =>
    put(`${architecture}.${key}`, type, value);
  put('general.architecture', 'string', architecture);
  put('general.type', 'string', 'model');
  put('general.name', 'string', name);
  put('general.file_type', 'uint32', fileType);
  put('general.quantization_version', 'uint32', 2);
  const heads = config.num_attention_heads as number;
  const headDim = config.head_dim ?? (config.hidden_size as number) / heads;
  own('context_length', 'uint32', config.max_position_embeddings);
  own('embedding_length', 'uint32', config.hidden_size);
  own('block_count', 'uint32', config.num_hidden_layers);
  own('feed_forward_length', 'uint32', config.intermediate_size);
  own('attention.head_count', 'uint32', heads);
  own('attention.head_count_kv', 'uint32', config.num_key_value_heads ?? heads);
  own('attention.layer_norm_rms_epsilon', 'float32', config.rms_norm_eps);
  own('attention.key_length', 'uint32', headDim);
  own('attention.value_length', 'uint32', headDim);
  own('vocab_size', 'uint32', config.vocab_size);
  const rope = ropeOf(config);
  own('rope.freq_base', 'float32', rope.theta);
  if (architecture !== 'gemma3') own('rope.dimension_count', 'uint32', headDim);
  if (rope.type === 'linear' || rope.type === 'yarn') {
    own('rope.scaling.type', 'string', rope.type);
    own('rope.scaling.factor', 'float32', rope.settings.factor);
    if (rope.type === 'yarn') {
      own('rope.scaling.original_context_length', 'uint32', rope.settings.original_max_position_embeddings);
    }
  } else if (rope.type !== 'default' && rope.type !== 'llama3') {
    throw notExportable('rope_type', rope.type, 'GGUF files are written for default, linear, yarn and llama3');
  }
  if (config.use_sliding_window === true) {
    throw notExportable('use_sliding_window', true, 'llama.cpp has no place for it in this architecture');
  }
  if (architecture === 'gemma3') {
    own('attention.sliding_window', 'uint32', config.sliding_window);
    if (typeof config.final_logit_softcapping === 'number') {
      own('final_logit_softcapping', 'float32', config.final_logit_softcapping);
    }
    requireGemmaDefaults(config, headDim as number);
  }
  return entries;
}

export function architectureOf(config: Readonly<Record<string, unknown>>): GgufArchitecture {
  const type = config.model_type;
  const found = Object.entries(GGUF_ARCHITECTURES).find(([, modelType]) => modelType === type);
  if (found) return found[0] as GgufArchitecture;
  throw notExportable('model_type', type, `GGUF files are written for ${Object.values(GGUF_ARCHITECTURES).join(', ')}`);
}

export type RopeOfConfig = {
  readonly theta: unknown;
  readonly type: unknown;
  readonly settings: Readonly<Record<string, unknown>>;
};

/** Both spellings: `rope_theta` with `rope_scaling`, and version 5's `rope_parameters`, which Gemma has by layer type. */
export function ropeOf(config: Readonly<Record<string, unknown>>): RopeOfConfig {
  const parameters = asRecord(config.rope_parameters);
  const settings = asRecord(parameters?.full_attention) ?? parameters ?? asRecord(config.rope_scaling) ?? {};
  return {
    theta: settings.rope_theta ?? config.rope_theta,
    type: settings.rope_type ?? settings.type ?? 'default',
    settings,
  };
}

/** What llama.cpp fixes for Gemma 3 must be so in the config, or the file would compute something else. */
function requireGemmaDefaults(config: Readonly<Record<string, unknown>>, headDim: number): void {
  const layers = config.num_hidden_layers as number;
  const scalar = layers === 62 ? (config.hidden_size as number) / (config.num_attention_heads as number) : headDim;
  if (config.query_pre_attn_scalar !== undefined && config.query_pre_attn_scalar !== scalar) {
    throw notExportable('query_pre_attn_scalar', config.query_pre_attn_scalar, `llama.cpp takes ${scalar}`);
  }
  const types = config.layer_types;
  if (Array.isArray(types)) {
    const odd = types.findIndex((type, i) => (type === 'full_attention') !== ((i + 1) % GEMMA_PATTERN === 0));
    if (odd >= 0) throw notExportable(`layer_types[${odd}]`, types[odd], 'llama.cpp has every sixth layer full');
  }
  const local =
    asRecord(asRecord(config.rope_parameters)?.sliding_attention)?.rope_theta ?? config.rope_local_base_freq;
  if (local !== undefined && local !== GEMMA_LOCAL_THETA) {
    throw notExportable('rope_local_base_freq', local, `llama.cpp takes ${GEMMA_LOCAL_THETA}`);
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function notExportable(key: string, value: unknown, why: string): TabwrightError {
  return new TabwrightError('config', `${key} is ${JSON.stringify(value)}: ${why}.`, {
    code: 'config-not-exportable',
    details: { key },
  });
}

class MetadataReader {
  readonly #metadata: GgufMetadata;
  readonly #architecture: string;
  readonly #path: string;

  constructor(metadata: GgufMetadata, architecture: string, path: string) {
    this.#metadata = metadata;
    this.#architecture = architecture;
    this.#path = path;
  }

  optional(key: string): number | undefined {
    const value = this.#value(key);
    if (value === undefined || typeof value === 'number') return value;
    throw this.notSupported(key, value, 'a number is expected');
  }

  number(key: string): number {
    const value = this.optional(key);
    if (value !== undefined) return value;
    throw this.#error(`lacks "${this.#architecture}.${key}"`, key);
  }

  text(key: string): string | undefined {
    const value = this.#value(key);
    if (value === undefined || typeof value === 'string') return value;
    throw this.notSupported(key, value, 'a text is expected');
  }

  unknownKey(key: string): TabwrightError {
    return this.#error(`has "${this.#architecture}.${key}", which is not known here and may change the result`, key);
  }

  notSupported(key: string, value: unknown, why: string): TabwrightError {
    const text = typeof value === 'string' ? `"${value}"` : String(value).slice(0, 80);
    return this.#error(`has "${this.#architecture}.${key}" = ${text}: ${why}`, key);
  }

  #value(key: string): GgufEntry['value'] | undefined {
    return this.#metadata.get(`${this.#architecture}.${key}`)?.value;
  }

  #error(what: string, key: string): TabwrightError {
    return new TabwrightError('config', `${this.#path} ${what}.`, {
      code: 'gguf-metadata-not-supported',
      details: { path: this.#path, key: `${this.#architecture}.${key}` },
    });
  }
}
