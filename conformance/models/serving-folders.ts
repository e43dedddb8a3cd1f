// Adapter folders for the servers' loaders: one of every family that adapters are exported for, with and without the head, as
// `model export --adapter` writes them; and folders that are wrong in one thing each, which a loader must refuse.

import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openModelFolder, writePeftAdapter } from '../../src/engine/index.ts';
import { decodeSafetensors, type NamedTensor } from '../../src/engine/safetensors.ts';
import { createRng } from '../../src/util/index.ts';

const FIXTURES = fileURLToPath(new URL('../../src/engine/fixtures/', import.meta.url));
const [RANK, ALPHA] = [2, 6];
/** vLLM has no Qwen 2 whose layers differ in their window. `+head`: the head, which is the embedding, is adapted too. Where it is a matrix of its own the fixture adapts it. */
const NAMES = [
  ...['llama', 'llama-3', 'llama-biases', 'qwen2', 'qwen3', 'gemma3'],
  ...['llama+head', 'qwen2+head', 'gemma3+head'],
];
/** What is wrong, and how `adapter_config.json` and the names and shapes of the tensors come to say it. */
const FAULTS: readonly Fault[] = [
  { what: 'a tensor of an unknown module', tensor: (name) => name.replace('layers.0.self_attn.q_proj', 'layers.0.q') },
  { what: 'a tensor that is no half', tensor: (name) => name.replace('q_proj.lora_A', 'q_proj.lora_C') },
  { what: 'no rank', config: (config) => ({ ...config, r: undefined }) },
  { what: 'a rank above the most', config: (config) => ({ ...config, r: 1024 }) },
];

type Fault = {
  readonly what: string;
  readonly tensor?: (name: string) => string;
  readonly config?: (config: Record<string, unknown>) => Record<string, unknown>;
};
export type ServingJob = {
  readonly name: string;
  readonly model: string;
  readonly adapter: string;
  readonly scaling: number;
};
export type ServingFolders = { readonly jobs: ServingJob[]; readonly broken: Omit<ServingJob, 'scaling'>[] };

export async function writeServingFolders(folder: string): Promise<ServingFolders> {
  await mkdir(folder, { recursive: true });
  const jobs: ServingJob[] = [];
  for (const name of NAMES) {
    const model = join(FIXTURES, name.split('+')[0]);
    const adapter = join(folder, name);
    const tensors = await adapterOf(name, model);
    await writePeftAdapter({ path: adapter, tensors, rank: RANK, alpha: ALPHA, baseModel: null });
    jobs.push({ name, model, adapter, scaling: ALPHA / RANK });
  }
  const broken: Omit<ServingJob, 'scaling'>[] = [];
  const { adapter: sound, model } = jobs[0];
  for (const [i, { what, tensor, config }] of FAULTS.entries()) {
    const adapter = join(folder, `broken-${i}`);
    await cp(sound, adapter, { recursive: true });
    if (config) await changeJson(join(adapter, 'adapter_config.json'), config);
    if (tensor) await renameTensors(join(adapter, 'adapter_model.safetensors'), tensor);
    broken.push({ name: what, model, adapter });
  }
  return { jobs, broken };
}

async function adapterOf(name: string, model: string): Promise<NamedTensor[]> {
  const { tensors } = decodeSafetensors(await readFile(join(model, 'expected.safetensors')), name);
  const adapter = [...tensors.values()]
    .filter((tensor) => /^lora\..*lora_[AB]/.test(tensor.name))
    .map((tensor) => ({ ...tensor, name: tensor.name.slice('lora.'.length) }));
  if (!name.endsWith('+head')) return adapter;
  const source = await openModelFolder(model);
  const [rows, columns] = source.shapeOf('model.embed_tokens.weight');
  await source.close();
  const rng = createRng('head', 1);
  const draw = (half: string, shape: number[]): NamedTensor => ({
    name: `lm_head.lora_${half}.weight`,
    shape,
    data: Float32Array.from({ length: shape[0] * shape[1] }, () => rng.next() - 0.5),
  });
  return [...adapter, draw('A', [RANK, columns]), draw('B', [rows, RANK])];
}

async function changeJson(
  path: string,
  change: (config: Record<string, unknown>) => Record<string, unknown>,
): Promise<void> {
  await writeFile(path, JSON.stringify(change(JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>)));
}

/** In the header alone; the numbers stay where they are. */
async function renameTensors(path: string, rename: (name: string) => string): Promise<void> {
  const file = await readFile(path);
  const end = 8 + Number(file.readBigUInt64LE());
  const header = JSON.parse(file.subarray(8, end).toString()) as Record<string, unknown>;
  const renamed = Buffer.from(
    JSON.stringify(Object.fromEntries(Object.entries(header).map(([k, v]) => [rename(k), v]))),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(renamed.length));
  await writeFile(path, Buffer.concat([length, renamed, file.subarray(end)]));
}
