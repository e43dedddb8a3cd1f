// What may be replaced by an output: an earlier one of the same kind, told by the files that it has and nothing else. No
// output goes where it would meet what it is made of, by whatever name: that is refused before anything is read at length.

import { lstat, open, readdir, realpath, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { TabwrightError } from '../../core/index.ts';

export type OutputKind = {
  /** As in "no earlier ... ", e.g. `PEFT folder`. */
  readonly name: string;
  /** Of a folder: files that each has, and all that one may have. */
  readonly files?: { readonly always: readonly string[]; readonly any: RegExp };
  /** Of a file: how it begins. */
  readonly magic?: string;
};

export const PEFT_FOLDER: OutputKind = {
  name: 'PEFT folder',
  files: {
    always: ['adapter_config.json', 'adapter_model.safetensors'],
    any: /^adapter_(?:config\.json|model\.safetensors)$/,
  },
};

/** Files that go with the weights of a model wherever it goes. */
export const COMPANION =
  /^(?:tokenizer\.json|tokenizer_config\.json|tokenizer\.model|vocab\.json|vocab\.txt|merges\.txt|special_tokens_map\.json|added_tokens\.json|generation_config\.json|chat_template\.(?:jinja|json)|(?:LICENSE|NOTICE)[\w.-]*)$/;

export const MODEL_FOLDER: OutputKind = {
  name: 'model folder with its weights in one file',
  files: {
    always: ['config.json', 'model.safetensors'],
    any: new RegExp(`${COMPANION.source}|^(?:config\\.json|model\\.safetensors)$`),
  },
};

export const GGUF_FILE: OutputKind = { name: 'GGUF file', magic: 'GGUF' };

export type OutputPlace = {
  /** Absolute. */
  readonly path: string;
  readonly overwrite: boolean;
  readonly kind: OutputKind;
  /** Files and folders that the output is made of; those that do not exist pass. */
  readonly reads: readonly string[];
};

/** Whether something is there, which may then be replaced. */
export async function checkPlace({ path, overwrite, kind, reads }: OutputPlace): Promise<boolean> {
  await checkReads(path, reads);
  const entry = await lstat(path).catch(() => undefined); // nothing there, or whoever writes hears why
  if (entry === undefined) return false;
  if (!overwrite) {
    const message = `${path} exists already; give another place, or ask for it to be replaced.`;
    throw new TabwrightError('store', message, { code: 'output-exists', details: { path } });
  }
  const what = entry.isDirectory() ? await strangeFolder(path, kind) : await strangeFile(path, entry.isFile(), kind);
  if (what === undefined) return true;
  throw new TabwrightError(
    'store',
    `${path} is not replaced, since it is no earlier ${kind.name} but ${what}. Give another place, or move away what is there.`,
    { code: 'output-not-ours', details: { path, found: what } },
  );
}

async function strangeFolder(path: string, { files }: OutputKind): Promise<string | undefined> {
  if (files === undefined) return 'a folder';
  const entries = await readdir(path, { withFileTypes: true });
  const other = entries.find((entry) => !entry.isFile() || !files.any.test(entry.name));
  if (other !== undefined) return `a folder with ${other.name}`;
  const missing = files.always.find((name) => !entries.some((entry) => entry.name === name));
  return missing === undefined ? undefined : `a folder without ${missing}`;
}

async function strangeFile(path: string, regular: boolean, { magic }: OutputKind): Promise<string | undefined> {
  if (!regular) return 'a link or a device';
  if (magic === undefined) return 'a file';
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const start = Buffer.alloc(magic.length);
    await file.read(start, 0, start.length, 0);
    return start.toString('latin1') === magic ? undefined : 'another file';
  } finally {
    await file?.close();
  }
}

async function checkReads(path: string, reads: readonly string[]): Promise<void> {
  const target = await realPlace(path);
  for (const read of reads) {
    const source = await realpath(read).catch(() => undefined); // whoever opens it says what is wrong
    if (source === undefined) continue;
    const how = within(source, target) ? 'is or contains' : within(target, source) ? 'lies in' : undefined;
    if (how === undefined) continue;
    throw new TabwrightError(
      'config',
      `${path} ${how} ${read}, which is read for it; give a place that has nothing to do with that.`,
      { code: 'output-over-input', details: { path, read } },
    );
  }
}

/** Where a path leads that may not be there yet. */
async function realPlace(path: string): Promise<string> {
  const parent = dirname(path);
  if (parent === path) return path;
  return realpath(path).catch(async () => join(await realPlace(parent), basename(path)));
}

function within(inner: string, outer: string): boolean {
  return join(inner, sep).startsWith(join(outer, sep));
}
