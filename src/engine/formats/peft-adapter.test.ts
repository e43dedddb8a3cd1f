// The folder as PEFT names things, and every fault that PEFT would load in silence or with a warning only. Whether
// `peft` computes the same with it is tested in tests/models.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeSafetensors, decodeSafetensors, type NamedTensor } from '../safetensors.ts';
import { readPeftAdapter, writePeftAdapter } from './peft-adapter.ts';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-peft-'));
  path = join(folder, 'adapter');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const tensor = (name: string, shape: number[]): NamedTensor => ({
  name,
  shape,
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => i / 8 - 1),
});
const tensors = [
  tensor('model.layers.0.self_attn.q_proj.lora_A.weight', [2, 6]),
  tensor('model.layers.0.self_attn.q_proj.lora_B.weight', [4, 2]),
  tensor('model.layers.1.mlp.up_proj.lora_A.weight', [2, 6]),
  tensor('model.layers.1.mlp.up_proj.lora_B.weight', [8, 2]),
];
const adapter = { tensors, rank: 2, alpha: 5, baseModel: 'owner/name' };

const configOf = async (): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(path, 'adapter_config.json'), 'utf8')) as Record<string, unknown>;
const editConfig = async (change: Record<string, unknown>): Promise<void> =>
  writeFile(join(path, 'adapter_config.json'), JSON.stringify({ ...(await configOf()), ...change }));
const editTensors = (changed: readonly NamedTensor[]): Promise<void> =>
  writeFile(join(path, 'adapter_model.safetensors'), encodeSafetensors(changed));
const prefixed = tensors.map((each) => ({ ...each, name: `base_model.model.${each.name}` }));

describe('PEFT adapter folder', () => {
  it("has PEFT's two files, its names and the modules that the tensors have", async () => {
    await writePeftAdapter({ path, ...adapter });
    expect((await readdir(path)).sort()).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
    expect(await configOf()).toMatchObject({
      peft_type: 'LORA',
      task_type: 'CAUSAL_LM',
      r: 2,
      lora_alpha: 5,
      target_modules: ['q_proj', 'up_proj'],
      base_model_name_or_path: 'owner/name',
    });
    const read = decodeSafetensors(await readFile(join(path, 'adapter_model.safetensors')), 'test');
    expect(read.metadata).toEqual({ format: 'pt' });
    expect([...read.tensors.values()]).toEqual(prefixed);
  });

  it('reads back what it wrote', async () => {
    await writePeftAdapter({ path, ...adapter });
    expect(await readPeftAdapter(path)).toEqual(adapter);
  });

  it('keeps a folder that exists unless it is told to replace it, and leaves nothing half-written', async () => {
    await writePeftAdapter({ path, ...adapter });
    await expect(writePeftAdapter({ path, ...adapter, alpha: 7 })).rejects.toMatchObject({ code: 'output-exists' });
    expect((await readPeftAdapter(path)).alpha).toBe(5);
    await writePeftAdapter({ path, ...adapter, alpha: 7, overwrite: true });
    expect((await readPeftAdapter(path)).alpha).toBe(7);
    expect(await readdir(folder)).toEqual(['adapter']);
  });

  it('refuses to write half a pair or a shape of another rank', async () => {
    const write = (changed: readonly NamedTensor[]): Promise<void> =>
      writePeftAdapter({ path, ...adapter, tensors: changed });
    await expect(write(tensors.slice(1))).rejects.toMatchObject({ code: 'bad-adapter' });
    await expect(write([tensor('x.lora_A.weight', [6, 2]), tensor('x.lora_B.weight', [2, 4])])).rejects.toThrow(
      /rank 2/,
    );
    await expect(write([])).rejects.toMatchObject({ code: 'bad-adapter' });
    expect(await readdir(folder)).toEqual([]);
  });

  it("reads the names of PEFT's named adapters and scales rank-stabilised ones", async () => {
    await writePeftAdapter({ path, ...adapter });
    await editTensors(prefixed.map((each) => ({ ...each, name: each.name.replace('.weight', '.default.weight') })));
    await editConfig({ use_rslora: true, unknown_key: 1 });
    const read = await readPeftAdapter(path);
    expect(read.tensors).toEqual(tensors);
    // PEFT scales by alpha / sqrt(rank), the engine by alpha / rank.
    expect(read.alpha / read.rank).toBeCloseTo(5 / Math.sqrt(2), 12);
  });

  it.each<[string, () => Promise<void>, RegExp]>([
    ['names without the prefix', () => editTensors(tensors), /lacks the prefix/],
    ['a tensor missing', () => editTensors(prefixed.slice(0, 3)), /no other half/],
    ['a transposed tensor', () => editTensors([{ ...prefixed[0], shape: [6, 2] }, ...prefixed.slice(1)]), /rank 2/],
    ['another kind of tensor', () => editTensors([tensor('base_model.model.x.lora_E', [2, 2])]), /neither a lora_A/],
    ['no peft_type', () => editConfig({ peft_type: undefined }), /peft_type/],
    ['another peft_type', () => editConfig({ peft_type: 'ADALORA' }), /ADALORA/],
    ['no rank', () => editConfig({ r: undefined }), /r: /],
    ['another rank', () => editConfig({ r: 3 }), /rank 3/],
    ['a transposing config', () => editConfig({ fan_in_fan_out: true }), /fan_in_fan_out/],
    ['trained biases', () => editConfig({ bias: 'all' }), /bias/],
    ['DoRA', () => editConfig({ use_dora: true }), /use_dora/],
    ['ranks by module', () => editConfig({ rank_pattern: { q_proj: 4 } }), /rank_pattern/],
    ['modules saved whole', () => editConfig({ modules_to_save: ['lm_head'] }), /modules_to_save/],
    ['a config that is no JSON', () => writeFile(join(path, 'adapter_config.json'), '{'), /not JSON/],
    ['no weights', () => rm(join(path, 'adapter_model.safetensors')), /could not be read/],
  ])('refuses a folder with %s, by name', async (_what, damage, message) => {
    await writePeftAdapter({ path, ...adapter });
    await damage();
    const read = readPeftAdapter(path);
    await expect(read).rejects.toMatchObject({ name: 'TabwrightError', boundary: 'store' });
    await expect(read).rejects.toThrow(message);
  });
});
