// A LoRA adapter as the folder that PEFT, vLLM and SGLang read: `adapter_config.json` beside
// `adapter_model.safetensors`. PEFT loads many a wrong folder without a word (names without its prefix, a missing
// `target_modules`), so names and modules are derived from the tensors here and everything is checked on reading.

import { join } from 'node:path';
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import { decodeSafetensors, type NamedTensor } from '../safetensors.ts';
import { writeOutputFolder } from './output-folder.ts';
import { PEFT_FOLDER } from './output-place.ts';
import { writeSafetensors } from './safetensors-writer.ts';

export const PEFT_CONFIG_FILE = 'adapter_config.json';
export const PEFT_WEIGHTS_FILE = 'adapter_model.safetensors';

const PREFIX = 'base_model.model.';

export type PeftAdapter = {
  /** `<path of the matrix in the model>.lora_A.weight` [rank, in] and `.lora_B.weight` [out, rank], in the engine's names. */
  readonly tensors: readonly NamedTensor[];
  readonly rank: number;
  /** The product is scaled by alpha / rank. */
  readonly alpha: number;
  /** The model it belongs to, as readers look it up: a Hugging Face name or a folder. Null where it is not known. */
  readonly baseModel: string | null;
};

export type PeftAdapterToWrite = PeftAdapter & {
  readonly path: string;
  /** Default false: a folder that exists is refused. Only an earlier one of this kind is replaced. */
  readonly overwrite?: boolean;
  /** Files and folders that it is made of; a place that holds them or lies in them is refused. */
  readonly reads?: readonly string[];
  readonly signal?: AbortSignal;
};

/** Writes the folder, which appears whole or not at all. */
export async function writePeftAdapter(options: PeftAdapterToWrite): Promise<void> {
  const { path, overwrite, reads, signal, ...adapter } = options;
  const config = peftConfig(adapter);
  await writeOutputFolder({ path, overwrite, reads, kind: PEFT_FOLDER }, async (folder) => {
    const tensors = adapter.tensors.map(({ name, shape, data }) => ({
      name: PREFIX + name,
      shape,
      read: () => data,
    }));
    await writeSafetensors({ path: join(folder, PEFT_WEIGHTS_FILE), tensors, signal });
    await writeFile(join(folder, PEFT_CONFIG_FILE), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
  });
}

/** What `adapter_config.json` says. `target_modules` comes from the tensors: a list that misses one makes PEFT drop it. */
function peftConfig({ tensors, rank, alpha, baseModel }: PeftAdapter): Record<string, unknown> {
  const modules = new Set<string>();
  for (const { matrix } of pairsOf(tensors, rank, 'the adapter')) modules.add(matrix.split('.').at(-1)!);
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: rank,
    lora_alpha: alpha,
    target_modules: [...modules].sort(),
    lora_dropout: 0,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    use_rslora: false,
  };
}

const configSchema = z.looseObject({
  peft_type: z.string(),
  r: z.number().int().positive(),
  lora_alpha: z.number().positive(),
  base_model_name_or_path: z.string().nullish(),
  bias: z.string().nullish(),
  fan_in_fan_out: z.boolean().nullish(),
  use_rslora: z.boolean().nullish(),
});

/** Keys that change what an adapter computes, and the values with which they do not. */
const MUST_BE_OFF = [
  'use_dora',
  'rank_pattern',
  'alpha_pattern',
  'modules_to_save',
  'megatron_config',
  'layer_replication',
  'target_parameters',
  'trainable_token_indices',
  'lora_bias',
  'use_qalora',
  'alora_invocation_tokens',
] as const;

/** Reads a folder that PEFT or Tinker wrote. Its names come back as the engine's, F16 and BF16 as F32. */
export async function readPeftAdapter(path: string): Promise<PeftAdapter> {
  const file = join(path, PEFT_CONFIG_FILE);
  const refuse = (message: string, code = 'bad-adapter'): TabwrightError =>
    new TabwrightError('store', `${file}: ${message}`, { code, details: { path } });
  const parsed = configSchema.safeParse(parseJson(await readText(file), refuse));
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`);
    throw refuse(`not an adapter's config: ${problems.join('; ')}.`);
  }
  const config = parsed.data;
  if (config.peft_type !== 'LORA') {
    throw refuse(`peft_type is "${config.peft_type}"; only LORA is read here.`, 'adapter-not-supported');
  }
  if (config.fan_in_fan_out) throw refuse('fan_in_fan_out is true, which is not read here.', 'adapter-not-supported');
  if (config.bias && config.bias !== 'none') {
    throw refuse(`bias is "${config.bias}"; only "none" is read here.`, 'adapter-not-supported');
  }
  for (const key of MUST_BE_OFF) {
    if (isOn(config[key])) {
      throw refuse(`${key} is ${JSON.stringify(config[key])}, which is not read here.`, 'adapter-not-supported');
    }
  }
  const weights = join(path, PEFT_WEIGHTS_FILE);
  const { tensors } = decodeSafetensors(await readBytes(weights), weights);
  const named = [...tensors.values()].map((tensor) => ({ ...tensor, name: engineName(tensor.name, weights) }));
  pairsOf(named, config.r, weights);
  return {
    tensors: named,
    rank: config.r,
    // rslora divides by the root of the rank (Kalajdzievski 2023); the engine always divides by the rank.
    alpha: config.use_rslora ? config.lora_alpha * Math.sqrt(config.r) : config.lora_alpha,
    baseModel: config.base_model_name_or_path ?? null,
  };
}

export type LoraPair = {
  /** Path of the adapted matrix, e.g. `model.layers.0.self_attn.q_proj`. */
  readonly matrix: string;
  readonly a: NamedTensor;
  readonly b: NamedTensor;
};

/** A and B of every adapted matrix; refuses one without the other and shapes that do not belong together. */
export function pairsOf(tensors: readonly NamedTensor[], rank: number, origin: string): LoraPair[] {
  const refuse = (message: string, tensor: string): TabwrightError =>
    new TabwrightError('store', `${origin}: ${message}`, { code: 'bad-adapter', details: { origin, tensor } });
  const found = new Map<string, { a?: NamedTensor; b?: NamedTensor }>();
  for (const tensor of tensors) {
    const match = /^(.+)\.lora_([AB])\.weight$/.exec(tensor.name);
    if (!match) throw refuse(`tensor "${tensor.name}" is neither a lora_A nor a lora_B weight.`, tensor.name);
    const pair = found.get(match[1]) ?? {};
    pair[match[2] === 'A' ? 'a' : 'b'] = tensor;
    found.set(match[1], pair);
  }
  if (found.size === 0) throw refuse('it holds no tensors.', '');
  return [...found].map(([matrix, { a, b }]) => {
    if (!a || !b) throw refuse(`"${matrix}" has a lora_${a ? 'A' : 'B'} weight, but no other half.`, matrix);
    if (a.shape.length !== 2 || a.shape[0] !== rank) {
      throw refuse(
        `"${a.name}" has shape [${a.shape.join(', ')}]; its first dimension must be the rank ${rank}.`,
        a.name,
      );
    }
    if (b.shape.length !== 2 || b.shape[1] !== rank) {
      throw refuse(
        `"${b.name}" has shape [${b.shape.join(', ')}]; its last dimension must be the rank ${rank}.`,
        b.name,
      );
    }
    return { matrix, a, b };
  });
}

function engineName(name: string, origin: string): string {
  if (!name.startsWith(PREFIX)) {
    const message = `${origin}: tensor "${name}" lacks the prefix "${PREFIX}": PEFT would load this adapter without effect.`;
    throw new TabwrightError('store', message, { code: 'bad-adapter', details: { origin, tensor: name } });
  }
  // PEFT's own saves of a named adapter may carry its name between the matrix and `weight`.
  return name.slice(PREFIX.length).replace(/\.lora_([AB])\.default\.weight$/, '.lora_$1.weight');
}

function isOn(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function parseJson(text: string, refuse: (message: string) => TabwrightError): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse('it is not JSON.');
  }
}

async function readText(file: string): Promise<string> {
  return new TextDecoder().decode(await readBytes(file));
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new TabwrightError('store', `${file} could not be read (${code}); check the path.`, {
      code: 'adapter-not-read',
      details: { file, reason: code },
      cause: error,
    });
  }
}
