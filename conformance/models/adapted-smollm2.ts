// SmolLM2-135M-Instruct with a random adapter folded in, as each file that we export (F16 and Q8_0 GGUF, merged folder) and
// as the `gguf` package writes it from that folder. What llama.cpp and transformers are compared on.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  exportGguf,
  mergedModel,
  openGguf,
  writeMergedFolder,
  type PeftAdapter,
  type WeightSource,
} from '../../src/engine/index.ts';
import { createGgufTokenizer } from '../../src/tokens/index.ts';
import { createRng } from '../../src/util/index.ts';
import { ask, SMOLLM2_GGUF } from './places.ts';
import { smolLm2Prompts, STOP } from './prompts.ts';

export type WrittenGguf = 'F16' | 'Q8_0';

export type AdaptedSmolLm2 = AsyncDisposable & {
  readonly merged: string;
  readonly prompts: readonly number[][];
  readonly stop: number;
  /** Ours. */
  gguf(type: WrittenGguf): string;
  /** That of the `gguf` package, written by `compareWithPeer`. */
  peer(type: WrittenGguf): string;
  compareWithPeer(type: WrittenGguf): Promise<PeerComparison>;
};

export type PeerComparison = { readonly tensors: number; readonly bytes: number; readonly different: string[] };

export async function writeAdaptedSmolLm2(): Promise<AdaptedSmolLm2> {
  const folder = await mkdtemp(join(tmpdir(), 'tabwright-llama-'));
  const { source, metadata } = await openGguf(SMOLLM2_GGUF);
  const tokenizer = createGgufTokenizer({ name: 'smollm2', metadata });
  const config = source.config as Record<string, unknown>;
  const merged = join(folder, 'merged');
  const gguf = (type: WrittenGguf): string => join(folder, `${type}.gguf`);
  const peer = (type: WrittenGguf): string => join(folder, `${type}-peer.gguf`);
  const { tensors } = mergedModel({ source, adapter: randomAdapter(source) });
  const tokenizerKeys = new Map([...metadata].filter(([key]) => key.startsWith('tokenizer.')));
  for (const type of ['F16', 'Q8_0'] as const) {
    await exportGguf({ path: gguf(type), type, config, tensors, tokenizer: tokenizerKeys, name: 'smollm2' });
  }
  await writeMergedFolder({ path: merged, config, tensors });
  await source.close();
  return {
    merged,
    prompts: smolLm2Prompts(tokenizer),
    stop: tokenizer.encode(STOP, { control: true })[0],
    gguf,
    peer,
    compareWithPeer: (type) =>
      ask('gguf-peer.py', {
        input: { folder: merged, tokenizer: SMOLLM2_GGUF, type, file: peer(type), ours: gguf(type) },
      }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Small, on every matrix, both halves non-zero. */
function randomAdapter(source: WeightSource): PeftAdapter {
  const rank = 4;
  const tensors = source.names
    .filter((name) => /_proj\.weight$/.test(name))
    .flatMap((name) => {
      const [rows, columns] = source.shapeOf(name);
      const stem = name.replace(/\.weight$/, '');
      const draw = (length: number, scale: number): Float32Array => {
        const rng = createRng('llama-test', 1, name, length);
        return Float32Array.from({ length }, () => (rng.next() - 0.5) * scale);
      };
      return [
        { name: `${stem}.lora_A.weight`, shape: [rank, columns], data: draw(rank * columns, 0.1) },
        { name: `${stem}.lora_B.weight`, shape: [rows, rank], data: draw(rows * rank, 0.02) },
      ];
    });
  return { tensors, rank, alpha: 8, baseModel: null };
}
