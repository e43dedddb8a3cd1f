// Models and trainer states as folders: `config.json` beside safetensors files. A folder appears whole or not at
// all (written under another name, then renamed), and is checked tensor by tensor before anything is replaced. The one
// it replaces is set aside until then; a process that ends in between leaves that to be read.

import { randomUUID } from 'node:crypto';
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { TabwrightError } from '../core/index.ts';
import { makeFolder } from '../util/index.ts';
import type { AdamState } from './adam.ts';
import { loraConfigSchema, loraParts, loraSpecs, mergeLora, type LoraConfig } from './lora.ts';
import { modelConfigSchema, parseModelConfig, type ModelConfig } from './model-config.ts';
import { decodeSafetensors, encodeSafetensors, type NamedTensor } from './safetensors.ts';
import { Weights, weightSpecs } from './weights.ts';

const FORMAT_VERSION = 1;
const MODEL_FILE = 'model.safetensors';
const ADAPTER_FILE = 'adapter.safetensors';
const OPTIMIZER_FILE = 'optimizer.safetensors';
const CONFIG_FILE = 'config.json';

const configFileSchema = z.strictObject({
  version: z.literal(FORMAT_VERSION),
  model: modelConfigSchema,
  lora: loraConfigSchema.optional(),
  /** Present in trainer states: Adam's step count. */
  step: z.number().int().nonnegative().optional(),
  /** Adapters alone: the base model that they belong to, which the folder does not hold. */
  base: z.string().optional(),
  /** Present in weights for sampling that a trainer saved: the optimiser steps behind them. */
  madeAtStep: z.number().int().nonnegative().optional(),
});
type ConfigFile = z.infer<typeof configFileSchema>;

export type TrainerState = {
  readonly config: ModelConfig;
  readonly base: Weights;
  readonly adapters: Weights | undefined;
  readonly lora: LoraConfig | undefined;
  readonly adam: AdamState;
  /** Fingerprint of a base that belongs to others: it is named instead of being written, and never changed. */
  readonly sharedBase?: string;
};

/** Weights as a folder holds them: a whole model, or adapters and the name of what they adapt. */
export type SavedWeights = {
  readonly config: ModelConfig;
  readonly step: number;
  readonly lora: LoraConfig | undefined;
  /** Adapters of a base that is not in the folder. */
  readonly adapters: Weights | undefined;
  /** The whole model, adapters merged in. */
  readonly weights: Weights | undefined;
};

/** A model as a folder that `loadModel` reads. */
export async function saveModel(
  path: string,
  config: ModelConfig,
  weights: Weights,
  madeAtStep?: number,
): Promise<void> {
  const file = { version: FORMAT_VERSION, model: config, ...(madeAtStep === undefined ? {} : { madeAtStep }) } as const;
  await writeFolder(path, file, { [MODEL_FILE]: weights.tensors() });
}

export type SavedAdapters = {
  readonly config: ModelConfig;
  readonly lora: LoraConfig;
  readonly adapters: Weights;
  /** Fingerprint of the base. */
  readonly base: string;
  readonly madeAtStep: number;
};

/** Adapters alone, for a sampler over the same base. */
export async function saveAdapters(
  path: string,
  { config, lora, adapters, base, madeAtStep }: SavedAdapters,
): Promise<void> {
  const file = { version: FORMAT_VERSION, model: config, lora, base, madeAtStep } as const;
  await writeFolder(path, file, { [ADAPTER_FILE]: adapters.tensors() });
}

/** What a folder holds, read only as far as its settings. */
export async function readSettings(name: string): Promise<{
  config: ModelConfig;
  lora: LoraConfig | undefined;
  base: string | undefined;
  step: number;
  isState: boolean;
}> {
  const { model, lora, base, step, madeAtStep } = await readConfig(await folderToRead(name));
  return { config: model, lora, base, step: step ?? madeAtStep ?? 0, isState: step !== undefined };
}

/** Weights for sampling over a base model: of a folder that holds adapters of it, or a whole model of its shape. */
export async function loadWeights(name: string, config: ModelConfig, base: string): Promise<SavedWeights> {
  const path = await folderToRead(name);
  const file = await readConfig(path);
  if (canonical(file.model) !== canonical(config)) throw mismatch(path, 'another model config');
  const common = { config, lora: file.lora, step: file.step ?? file.madeAtStep ?? 0 };
  if (file.base === undefined) {
    return { ...common, lora: undefined, adapters: undefined, weights: (await loadModel(name)).weights };
  }
  if (file.base !== base) throw mismatch(path, 'another base model');
  return { ...common, adapters: await readAdapters(path, file), weights: undefined };
}

/** The adapters that a folder holds, whatever they belong to. */
export async function loadAdapters(
  name: string,
): Promise<{ config: ModelConfig; lora: LoraConfig | undefined; adapters: Weights | undefined }> {
  const path = await folderToRead(name);
  const file = await readConfig(path);
  const { model: config, lora } = file;
  return { config, lora, adapters: lora && (await readAdapters(path, file)) };
}

/** Fills adapters, or the weights of a full trainer, and leaves the optimiser alone. */
export async function loadTrainedWeights(name: string, state: TrainerState): Promise<void> {
  const path = await folderToRead(name);
  const file = await readConfig(path);
  checkMatches(path, file, state);
  if (state.adapters)
    state.adapters.flat.set((await readInto(path, ADAPTER_FILE, new Weights(state.adapters.specs))).flat);
  else state.base.flat.set((await readInto(path, MODEL_FILE, new Weights(state.base.specs))).flat);
}

/** Reads a model, or the model inside a trainer state, with its adapters merged in. */
export async function loadModel(name: string): Promise<{ config: ModelConfig; weights: Weights }> {
  const path = await folderToRead(name);
  const file = await readConfig(path);
  const { model, lora } = file;
  if (file.base !== undefined)
    throw mismatch(path, 'adapters of another model (open it over that one), no whole model');
  const weights = await readInto(path, MODEL_FILE, new Weights(weightSpecs(model)));
  if (lora) {
    const parts = loraParts(weights.specs, lora);
    const adapters = await readInto(path, ADAPTER_FILE, new Weights(loraSpecs(parts, lora)));
    mergeLora(weights, adapters, parts, lora);
  }
  return { config: model, weights };
}

export async function saveTrainerState(
  path: string,
  { config, base, adapters, lora, adam, sharedBase }: TrainerState,
): Promise<void> {
  const trained = adapters ?? base;
  const moments = [new Weights(trained.specs, adam.first), new Weights(trained.specs, adam.second)];
  const files: Record<string, NamedTensor[]> = {
    ...(sharedBase === undefined ? { [MODEL_FILE]: base.tensors() } : {}),
    [OPTIMIZER_FILE]: moments.flatMap((moment, i) =>
      moment.tensors().map((tensor) => ({ ...tensor, name: `moment${i + 1}.${tensor.name}` })),
    ),
  };
  if (adapters) files[ADAPTER_FILE] = adapters.tensors();
  await writeFolder(
    path,
    {
      version: FORMAT_VERSION,
      model: config,
      ...(lora ? { lora } : {}),
      ...(sharedBase === undefined ? {} : { base: sharedBase }),
      step: adam.step,
    },
    files,
  );
}

/** Fills the given weights and moments from a folder of the same model and adapter settings. */
export async function loadTrainerState(name: string, state: TrainerState): Promise<void> {
  const { base, adapters, adam, sharedBase } = state;
  const path = await folderToRead(name);
  const file = await readConfig(path);
  checkMatches(path, file, state);
  if (file.step === undefined)
    throw mismatch(path, 'sampling only (it has no optimiser state), which is something else');
  // Everything is read and checked before anything is replaced.
  const trained = adapters ?? base;
  const loaded = {
    base: sharedBase === undefined ? await readInto(path, MODEL_FILE, new Weights(base.specs)) : undefined,
    adapters: adapters ? await readInto(path, ADAPTER_FILE, new Weights(adapters.specs)) : undefined,
    first: await readInto(path, OPTIMIZER_FILE, new Weights(trained.specs), 'moment1.'),
    second: await readInto(path, OPTIMIZER_FILE, new Weights(trained.specs), 'moment2.'),
  };
  if (loaded.base) base.flat.set(loaded.base.flat);
  if (adapters && loaded.adapters) adapters.flat.set(loaded.adapters.flat);
  adam.first.set(loaded.first.flat);
  adam.second.set(loaded.second.flat);
  adam.step = file.step;
}

function checkMatches(path: string, file: ConfigFile, { config, lora, sharedBase }: TrainerState): void {
  if (canonical(file.model) !== canonical(config)) throw mismatch(path, 'another model config');
  if (canonical(file.lora ?? null) !== canonical(lora ?? null)) throw mismatch(path, 'other LoRA settings');
  if (file.base !== sharedBase) throw mismatch(path, 'another base model');
}

function mismatch(path: string, what: string): TabwrightError {
  return new TabwrightError(
    'store',
    `The checkpoint ${path} is for ${what}, which is not what is here; use it with the settings that it was made with.`,
    { code: 'checkpoint-mismatch', details: { path } },
  );
}

async function readAdapters(path: string, { model, lora }: ConfigFile): Promise<Weights> {
  if (!lora) throw mismatch(path, 'a base that it does not hold, and without LoRA settings');
  return readInto(path, ADAPTER_FILE, new Weights(loraSpecs(loraParts(weightSpecs(model), lora), lora)));
}

async function writeFolder(
  path: string,
  config: ConfigFile,
  files: Readonly<Record<string, readonly NamedTensor[]>>,
): Promise<void> {
  const temporary = join(dirname(path), `.${randomUUID()}.partial`);
  try {
    await makeFolder(temporary);
    for (const [name, tensors] of Object.entries(files)) {
      await writeFile(join(temporary, name), encodeSafetensors(tensors), { flush: true });
    }
    await writeFile(join(temporary, CONFIG_FILE), `${JSON.stringify(config, null, 2)}\n`, { flush: true });
    await replace(path, temporary);
  } catch (error) {
    // What went wrong first is what the caller must hear, not a second failure of tidying up.
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new TabwrightError(
      'store',
      `The checkpoint ${path} could not be written (${code}); check free space and permissions.`,
      {
        code: code === 'ENOSPC' ? 'disk-full' : 'checkpoint-not-written',
        details: { path, reason: code },
        cause: error,
      },
    );
  }
}

/** At every instant `path`, or where it is missing the folder set aside, is a whole old or new one. */
async function replace(path: string, temporary: string): Promise<void> {
  const aside = asideOf(path);
  if (await exists(path)) {
    await rm(aside, { recursive: true, force: true }); // of a replacement that came as far as its last step
    await rename(path, aside);
  }
  await rename(temporary, path);
  await rm(aside, { recursive: true, force: true });
}

/** `path`, or what a replacement that was cut short has set aside. */
async function folderToRead(path: string): Promise<string> {
  return !(await exists(path)) && (await exists(asideOf(path))) ? asideOf(path) : path;
}

function asideOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.replaced`);
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false, // whoever opens it then hears why
  );
}

async function readConfig(path: string): Promise<ConfigFile> {
  const file = join(path, CONFIG_FILE);
  const bytes = await readBytes(file);
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new TabwrightError('store', `${file} is not JSON: the file is damaged; restore it from its source.`, {
      code: 'bad-checkpoint-config',
      details: { file },
      cause: error,
    });
  }
  const version = typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : undefined;
  if (version !== FORMAT_VERSION) {
    const message = `${file} has format version ${String(version)}; this version of tabwright reads ${FORMAT_VERSION}. Use the version that wrote it.`;
    throw new TabwrightError('store', message, { code: 'checkpoint-version', details: { file } });
  }
  const result = configFileSchema.safeParse(parsed);
  if (result.success) return result.data;
  if (typeof parsed === 'object' && parsed !== null && 'model' in parsed) parseModelConfig(parsed.model, file);
  const problems = result.error.issues.map(({ path: at, message }) => `${at.join('.') || 'the file'}: ${message}`);
  throw new TabwrightError('store', `${file} is not a checkpoint config: ${problems.join('; ')}.`, {
    code: 'bad-checkpoint-config',
    details: { file },
  });
}

/** Reads one file's tensors into `weights`; every tensor must be there with its shape, and no other. */
async function readInto(path: string, name: string, weights: Weights, prefix = ''): Promise<Weights> {
  const file = join(path, name);
  const { tensors } = decodeSafetensors(await readBytes(file), file);
  const fail = (message: string, tensor: string, code: string): TabwrightError =>
    new TabwrightError('store', `${file}: ${message}`, { code, details: { file, tensor } });
  const expected = new Set<string>();
  for (const { name: tensorName, shape, data } of weights.tensors()) {
    const key = prefix + tensorName;
    expected.add(key);
    const found = tensors.get(key);
    if (!found) throw fail(`tensor "${key}" of shape [${shape.join(', ')}] is missing.`, key, 'tensor-missing');
    if (found.shape.join() !== shape.join()) {
      throw fail(
        `tensor "${key}" has shape [${found.shape.join(', ')}], expected [${shape.join(', ')}].`,
        key,
        'tensor-shape',
      );
    }
    const bad = found.data.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0)
      throw fail(
        `tensor "${key}" holds ${found.data[bad]} at element ${bad}; the file is damaged.`,
        key,
        'tensor-not-finite',
      );
    data.set(found.data);
  }
  for (const key of tensors.keys()) {
    if (key.startsWith(prefix) && !expected.has(key))
      throw fail(`tensor "${key}" does not belong to this model.`, key, 'tensor-unknown');
  }
  return weights;
}

async function readBytes(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new TabwrightError('store', `${file} could not be read (${code}); check the path.`, {
      code: 'checkpoint-not-read',
      details: { file, reason: code },
      cause: error,
    });
  }
}

/** JSON with sorted keys, so that equal configs compare equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    item && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
