// What was trained, from wherever it lies: a trainer's folder, a PEFT folder or a Tinker archive, as one adapter; or,
// where every weight was trained, all of them.

import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAdapters, loadModel } from '../checkpoint.ts';
import type { NamedTensor } from '../safetensors.ts';
import { unpackAdapterArchive } from './adapter-archive.ts';
import { PEFT_CONFIG_FILE, readPeftAdapter, type PeftAdapter } from './peft-adapter.ts';

export type Trained =
  | { readonly kind: 'adapter'; readonly adapter: PeftAdapter }
  | { readonly kind: 'whole'; readonly tensors: readonly NamedTensor[] };

export async function readTrained(path: string, options: { readonly signal?: AbortSignal } = {}): Promise<Trained> {
  if (await isFile(path)) return { kind: 'adapter', adapter: await fromArchive(path, options.signal) };
  if (await isFile(join(path, PEFT_CONFIG_FILE))) return { kind: 'adapter', adapter: await readPeftAdapter(path) };
  const { lora, adapters } = await loadAdapters(path);
  if (!lora || !adapters) return { kind: 'whole', tensors: (await loadModel(path)).weights.tensors() };
  const { rank, alpha } = lora;
  return { kind: 'adapter', adapter: { tensors: adapters.tensors(), rank, alpha, baseModel: null } };
}

async function fromArchive(archive: string, signal: AbortSignal | undefined): Promise<PeftAdapter> {
  const folder = await mkdtemp(join(tmpdir(), 'tabwright-archive-'));
  try {
    await unpackAdapterArchive({ archive, path: join(folder, 'adapter'), ...(signal ? { signal } : {}) });
    return await readPeftAdapter(join(folder, 'adapter'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false, // whoever opens it then hears why
  );
}
