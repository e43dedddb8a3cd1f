import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadModel, saveModel } from './checkpoint.ts';
import { decodeSafetensors, encodeSafetensors } from './safetensors.ts';
import { TINY } from './test-support.ts';
import { EmbeddedTrainer } from './trainer.ts';
import { initWeights } from './weights.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const weights = initWeights(TINY, 3);

describe('safetensors', () => {
  const tensors = [
    { name: 'a', shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
    { name: 'ü', shape: [], data: Float32Array.of(-0.5) },
  ];

  it('lays a file out as the format says: header length, JSON, data from a multiple of 8', () => {
    const bytes = encodeSafetensors(tensors);
    const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
    expect(length % 8).toBe(0);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as Record<string, unknown>;
    expect(header['a']).toEqual({ dtype: 'F32', shape: [2, 3], data_offsets: [0, 24] });
    expect(bytes.length).toBe(8 + length + 28);
    expect(new DataView(bytes.buffer).getFloat32(8 + length + 4, true)).toBe(2);
  });

  it('reads back what it wrote', () => {
    const { tensors: read } = decodeSafetensors(encodeSafetensors(tensors), 'test');
    expect([...read.values()]).toEqual(tensors);
  });

  it('refuses every truncation, naming the tensor that is cut', () => {
    const bytes = encodeSafetensors(tensors);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeSafetensors(bytes.subarray(0, length), 'test'), `${length} bytes`).toThrowError(
        expect.objectContaining({ code: 'bad-safetensors' }),
      );
    }
    expect(() => decodeSafetensors(bytes.subarray(0, bytes.length - 1), 'test')).toThrowError(/"ü"/);
  });

  it('survives any single flipped byte of the header with an error or an intact read, never a crash', () => {
    const bytes = encodeSafetensors(tensors);
    const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
    for (let at = 0; at < 8 + length; at++) {
      const damaged = bytes.slice();
      damaged[at] ^= 0x15;
      try {
        decodeSafetensors(damaged, 'test');
      } catch (error) {
        expect(error).toMatchObject({ name: 'TabwrightError' });
      }
    }
  });

  it.each([
    ['shared bytes', [0, 8], [4, 12]],
    ['a gap', [0, 8], [12, 20]],
    ['bytes of no tensor', [0, 8], [8, 16]],
  ])('refuses a header with %s', (_what, a, b) => {
    const entry = (offsets: number[]): object => ({ dtype: 'F32', shape: [2], data_offsets: offsets });
    const json = new TextEncoder().encode(JSON.stringify({ a: entry(a), b: entry(b) }));
    const bytes = new Uint8Array(8 + json.length + 20);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
    bytes.set(json, 8);
    expect(() => decodeSafetensors(bytes, 'test')).toThrowError(expect.objectContaining({ code: 'bad-safetensors' }));
  });

  it('says which type it does not read', () => {
    const json = new TextEncoder().encode('{"x":{"dtype":"I16","shape":[1],"data_offsets":[0,2]}}');
    const bytes = new Uint8Array(8 + json.length + 2);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
    bytes.set(json, 8);
    expect(() => decodeSafetensors(bytes, 'test')).toThrowError(/"x" has type I16/);
  });
});

describe('a model folder', () => {
  it('gives back the same weights and config', async () => {
    await saveModel(join(folder, 'model'), TINY, weights);
    const loaded = await loadModel(join(folder, 'model'));
    expect(loaded.config).toEqual(TINY);
    expect(loaded.weights.flat).toEqual(weights.flat);
  });

  it('is replaced whole, and leaves nothing else behind', async () => {
    await saveModel(join(folder, 'model'), TINY, weights);
    const other = weights.clone();
    other.flat.fill(0.25);
    await saveModel(join(folder, 'model'), TINY, other);
    expect((await loadModel(join(folder, 'model'))).weights.flat[0]).toBe(0.25);
    expect(await readdir(folder)).toEqual(['model']);
  });

  it('stays as it was when the new one cannot be written', async () => {
    await saveModel(join(folder, 'model'), TINY, weights);
    await writeFile(join(folder, 'file'), '');
    await expect(saveModel(join(folder, 'file', 'model'), TINY, weights)).rejects.toMatchObject({
      code: 'checkpoint-not-written',
    });
    expect((await loadModel(join(folder, 'model'))).weights.flat).toEqual(weights.flat);
  });

  it('names tensor, found and expected shape when config and file disagree', async () => {
    await saveModel(join(folder, 'model'), TINY, weights);
    const path = join(folder, 'model', 'config.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"intermediateSize": 20', '"intermediateSize": 24'));
    await expect(loadModel(join(folder, 'model'))).rejects.toThrowError(
      /gate_proj.*shape \[20, 16\], expected \[24, 16\]/,
    );
  });

  const damages: [string, (path: string) => Promise<void>, string][] = [
    ['a truncated tensor file', (path) => truncate(join(path, 'model.safetensors'), 2000), 'bad-safetensors'],
    ['a missing tensor file', (path) => rm(join(path, 'model.safetensors')), 'checkpoint-not-read'],
    ['a config that is not JSON', (path) => writeFile(join(path, 'config.json'), '{'), 'bad-checkpoint-config'],
    [
      'a config of another version',
      (path) => writeFile(join(path, 'config.json'), '{"version":2}'),
      'checkpoint-version',
    ],
    [
      'a config with a key too many',
      (path) => writeFile(join(path, 'config.json'), JSON.stringify({ version: 1, model: TINY, extra: 1 })),
      'bad-checkpoint-config',
    ],
    [
      'a missing tensor',
      (path) => writeFile(join(path, 'model.safetensors'), encodeSafetensors(weights.tensors().slice(1))),
      'tensor-missing',
    ],
    [
      'a tensor too many',
      (path) =>
        writeFile(
          join(path, 'model.safetensors'),
          encodeSafetensors([...weights.tensors(), { name: 'more', shape: [1], data: Float32Array.of(1) }]),
        ),
      'tensor-unknown',
    ],
    [
      'a weight that is not a number',
      (path) => {
        const bad = weights.clone();
        bad.flat[5] = NaN;
        return writeFile(join(path, 'model.safetensors'), encodeSafetensors(bad.tensors()));
      },
      'tensor-not-finite',
    ],
  ];
  for (const [what, damage, code] of damages) {
    it(`with ${what} is refused`, async () => {
      const path = join(folder, 'model');
      await saveModel(path, TINY, weights);
      await damage(path);
      await expect(loadModel(path)).rejects.toMatchObject({ name: 'TabwrightError', code });
    });
  }
});

describe('a config file', () => {
  it('that is none is refused in one line that names what is wrong', async () => {
    const path = join(folder, 'model');
    await saveModel(path, TINY, weights);
    await writeFile(join(path, 'config.json'), JSON.stringify({ version: 1, command: 'sft', extra: 1 }));
    const message = await loadModel(path).then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    expect(message).toMatch(/model: /);
    expect(message).not.toContain('\n');
  });
});

describe('a trainer state', () => {
  it('of another model, or with other adapters, is refused and changes nothing', async () => {
    await using trainer = EmbeddedTrainer.fresh(TINY, 1, { threads: 1 });
    await trainer.saveState(join(folder, 'state'));
    await using wider = EmbeddedTrainer.fresh({ ...TINY, intermediateSize: 24 }, 1, { threads: 1 });
    await expect(wider.loadState(join(folder, 'state'))).rejects.toMatchObject({ code: 'checkpoint-mismatch' });
    await using adapted = EmbeddedTrainer.fresh(TINY, 1, {
      threads: 1,
      lora: { rank: 2, alpha: 2, targetModules: ['q_proj'] },
    });
    await expect(adapted.loadState(join(folder, 'state'))).rejects.toMatchObject({ code: 'checkpoint-mismatch' });
  });

  it('that is damaged in its last file leaves the trainer as it was', async () => {
    await using trainer = EmbeddedTrainer.fresh(TINY, 1, { threads: 1 });
    await trainer.saveState(join(folder, 'state'));
    await truncate(join(folder, 'state', 'optimizer.safetensors'), 3000);
    await using other = EmbeddedTrainer.fresh(TINY, 2, { threads: 1 });
    const data = [{ tokens: [1, 2, 3], lossInputs: { targetTokens: [2, 3, 4], weights: [1, 1, 1] } }];
    const before = await other.forward(data, 'cross_entropy');
    await expect(other.loadState(join(folder, 'state'))).rejects.toMatchObject({ code: 'bad-safetensors' });
    expect(await other.forward(data, 'cross_entropy')).toEqual(before);
  });

  it('made for sampling only is not taken for a training state', async () => {
    await using trainer = EmbeddedTrainer.fresh(TINY, 1, { threads: 1 });
    await trainer.saveWeightsForSampler(join(folder, 'model'));
    await expect(trainer.loadState(join(folder, 'model'))).rejects.toMatchObject({ code: 'checkpoint-mismatch' });
    expect((await loadModel(join(folder, 'model'))).config).toEqual(TINY);
  });
});
