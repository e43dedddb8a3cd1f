// A Hugging Face model folder as a source of weights: config.json beside one safetensors file or several with an
// index. Headers are read when it is opened, tensors one at a time when they are asked for.

import { readdir, readFile, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import {
  decodeFloats,
  parseSafetensorsHeader,
  requireFloats,
  safetensorsHeaderBytes,
  type SafetensorsEntry,
} from '../safetensors.ts';
import type { WeightSource } from '../weight-source.ts';
import { openFile, readExactly } from './gguf-header.ts';

const SINGLE_FILE = 'model.safetensors';
const INDEX_FILE = 'model.safetensors.index.json';
const CONFIG_FILE = 'config.json';

/** Bytes of a 16-bit tensor that are held beside its values. */
const CHUNK_BYTES = 1 << 22;

type Shard = { readonly path: string; readonly file: FileHandle; readonly dataStart: number };
type Located = { readonly shard: Shard; readonly entry: SafetensorsEntry };

export async function openModelFolder(folder: string): Promise<WeightSource> {
  const config = await readJson(join(folder, CONFIG_FILE));
  const shards: Shard[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(shards.map(({ file }) => file.close()));
  };
  try {
    const located = new Map<string, Located>();
    for (const name of await shardNames(folder)) {
      const { shard, entries } = await openShard(join(folder, name), (opened) => shards.push(opened));
      for (const entry of entries) {
        if (located.has(entry.name)) {
          throw refuse(folder, `tensor "${entry.name}" is in two files`, { tensor: entry.name });
        }
        located.set(entry.name, { shard, entry });
      }
    }
    await checkIndex(folder, located);
    const find = (name: string): Located => {
      const found = located.get(name);
      if (found) return found;
      throw new TabwrightError('store', `${folder} has no tensor "${name}"; it is not a whole model of its config.`, {
        code: 'tensor-missing',
        details: { path: folder, tensor: name },
      });
    };
    return {
      origin: folder,
      config,
      names: [...located.keys()],
      shapeOf: (name) => find(name).entry.shape,
      read: (name, { signal } = {}) => readTensor(find(name), signal),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function readTensor({ shard, entry }: Located, signal: AbortSignal | undefined): Promise<Float32Array> {
  const { path, file, dataStart } = shard;
  requireFloats(entry, path);
  const into = new Float32Array(entry.shape.reduce((product, dim) => product * dim, 1));
  const start = dataStart + entry.start;
  if (entry.type === 'F32') {
    await readExactly(file, { into: new Uint8Array(into.buffer), position: start, path });
  } else {
    const scratch = new Uint8Array(Math.min(CHUNK_BYTES, entry.end - entry.start));
    for (let done = 0; done < into.length; done += CHUNK_BYTES / 2) {
      signal?.throwIfAborted();
      const part = into.subarray(done, Math.min(done + CHUNK_BYTES / 2, into.length));
      const bytes = scratch.subarray(0, part.length * 2);
      await readExactly(file, { into: bytes, position: start + done * 2, path });
      decodeFloats(bytes, entry.type, part);
    }
  }
  const bad = into.findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return into;
  const message = `${path}: tensor "${entry.name}" holds ${into[bad]} at element ${bad}; the file is damaged, fetch it again.`;
  throw new TabwrightError('store', message, { code: 'tensor-not-finite', details: { path, tensor: entry.name } });
}

async function openShard(
  path: string,
  onOpen: (shard: Shard) => void,
): Promise<{ shard: Shard; entries: readonly SafetensorsEntry[] }> {
  const file = await openFile(path);
  const { size } = await file.stat();
  const prefix = new Uint8Array(Math.min(8, size));
  let shard: Shard = { path, file, dataStart: 0 };
  onOpen(shard); // so that it is closed whatever follows
  await readExactly(file, { into: prefix, position: 0, path });
  const length = safetensorsHeaderBytes(prefix, size, path);
  const header = new Uint8Array(length);
  await readExactly(file, { into: header, position: 8, path });
  shard = { path, file, dataStart: 8 + length };
  const { entries } = parseSafetensorsHeader({ header, dataBytes: size - shard.dataStart, origin: path });
  return { shard, entries };
}

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

async function shardNames(folder: string): Promise<readonly string[]> {
  if (await isFile(join(folder, SINGLE_FILE))) return [SINGLE_FILE];
  if (await isFile(join(folder, INDEX_FILE))) {
    const names = new Set(Object.values(await readIndex(folder)));
    for (const name of names) {
      // The index comes with the weights from wherever they came.
      if (!/^[\w.-]+\.safetensors$/.test(name)) {
        throw refuse(folder, `${INDEX_FILE} names the file "${name}", which is not a safetensors file beside it`);
      }
    }
    return [...names].sort();
  }
  const there = await readdir(folder);
  const pickles = there.filter((name) => /\.(bin|pt|pth|ckpt)$/.test(name));
  const why =
    pickles.length > 0
      ? `it has ${pickles[0]}, whose format can run programs and is not read here; convert it to safetensors`
      : `it has neither ${SINGLE_FILE} nor ${INDEX_FILE}`;
  throw refuse(folder, why);
}

/** Every tensor of the index must be where it says, and no file may hold others. */
async function checkIndex(folder: string, located: ReadonlyMap<string, Located>): Promise<void> {
  if ((await isFile(join(folder, SINGLE_FILE))) || !(await isFile(join(folder, INDEX_FILE)))) return;
  const map = await readIndex(folder);
  for (const [tensor, name] of Object.entries(map)) {
    if (located.get(tensor)?.shard.path !== join(folder, name)) {
      throw refuse(folder, `tensor "${tensor}" is not in ${name}, where ${INDEX_FILE} has it`, { tensor });
    }
  }
  for (const [tensor, { shard }] of located) {
    if (!Object.hasOwn(map, tensor)) throw refuse(shard.path, `tensor "${tensor}" is not in ${INDEX_FILE}`, { tensor });
  }
}

async function readIndex(folder: string): Promise<Readonly<Record<string, string>>> {
  const parsed = indexSchema.safeParse(await readJson(join(folder, INDEX_FILE)));
  if (parsed.success) return parsed.data.weight_map;
  throw refuse(folder, `${INDEX_FILE} has no weight_map from tensors to files`);
}

async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new TabwrightError('store', `${path} could not be read (${code}); check the path.`, {
      code: 'model-file-not-read',
      details: { path, reason: code },
      cause: error,
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw refuse(path, 'it is not JSON');
  }
}

function refuse(path: string, why: string, details: Readonly<Record<string, string>> = {}): TabwrightError {
  return new TabwrightError('store', `${path} is not a model folder that can be read: ${why}.`, {
    code: 'bad-model-folder',
    details: { path, ...details },
  });
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false, // whoever opens it then hears why
  );
}
