// A whole model as a Hugging Face folder: config.json, model.safetensors and the tokenizer's files as they are given.

import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeOutputFolder } from './output-folder.ts';
import { MODEL_FOLDER } from './output-place.ts';
import { writeSafetensors, type FloatType, type TensorToWrite } from './safetensors-writer.ts';

export type MergedFolder = {
  readonly path: string;
  /** Default false: a folder that exists is refused. Only an earlier one of this kind is replaced. */
  readonly overwrite?: boolean;
  /** Files and folders that it is made of; a place that holds them or lies in them is refused. */
  readonly reads?: readonly string[];
  /** Written as config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** By Hugging Face name. */
  readonly tensors: readonly TensorToWrite[];
  /** Default F32. */
  readonly type?: FloatType;
  /** Files to copy, by their name in the folder. */
  readonly copies?: ReadonlyMap<string, string>;
  /** Texts to write, by their name in the folder. */
  readonly texts?: ReadonlyMap<string, string>;
  readonly signal?: AbortSignal;
};

const TORCH_TYPES = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' } as const;

export async function writeMergedFolder(options: MergedFolder): Promise<void> {
  const { path, overwrite, reads, tensors, type = 'F32', signal } = options;
  // Both spellings of the type that readers know.
  const config = { ...options.config, dtype: TORCH_TYPES[type], torch_dtype: TORCH_TYPES[type] };
  await writeOutputFolder({ path, overwrite, reads, kind: MODEL_FOLDER }, async (folder) => {
    await writeSafetensors({ path: join(folder, 'model.safetensors'), tensors, type, signal });
    for (const [name, from] of options.copies ?? []) await copyFile(from, join(folder, name));
    for (const [name, text] of options.texts ?? []) await writeFile(join(folder, name), text, { flush: true });
    await writeFile(join(folder, 'config.json'), `${configText(config)}\n`, { flush: true });
  });
}

/** transformers takes a whole number for no softcap; JSON of JavaScript has no other way to write 30.0. */
function configText(config: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(config, null, 2).replace(/("\w+_logit_softcapping": \d+)(?=,?$)/gm, '$1.0');
}
