// A model as a GGUF file that llama.cpp opens: names, row order, rotary factors and norms as it has them. Tensors are
// asked for and written one by one. The tokenizer's metadata come from the caller, since this folder knows no text.

import { open } from 'node:fs/promises';
import { TabwrightError } from '../../core/index.ts';
import { architectureOf, ggufMetadataOf, ropeOf } from './gguf-config.ts';
import { encodeGgufHeader } from './gguf-header-writer.ts';
import { ggufName, isShiftedNorm, reorderRotaryRows } from './gguf-names.ts';
import { DEFAULT_ALIGNMENT, WRITTEN_TYPES, type GgufEntry, type GgufTensor, type WrittenType } from './gguf-types.ts';
import { writeOutputFile } from './output-folder.ts';
import { GGUF_FILE } from './output-place.ts';
import { bytesOf, quantise } from './quantise.ts';
import { llama3RopeFactors } from './rope-factors.ts';
import type { TensorToWrite } from './safetensors-writer.ts';

export type GgufExport = {
  readonly path: string;
  /** Default false: a file that exists is refused. Only a GGUF file is replaced. */
  readonly overwrite?: boolean;
  /** Files and folders that it is made of; a place that holds them or lies in them is refused. */
  readonly reads?: readonly string[];
  /** In the spelling of Hugging Face's config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** By Hugging Face name, in Hugging Face's row order. */
  readonly tensors: readonly TensorToWrite[];
  /** Type of the matrices; norms and biases are F32. */
  readonly type: 'F16' | 'Q8_0';
  /** `tokenizer.*` keys. */
  readonly tokenizer: ReadonlyMap<string, GgufEntry>;
  readonly name: string;
  readonly signal?: AbortSignal;
};

/** llama.cpp's numbers for what a file mostly holds (`enum llama_ftype`). */
const FILE_TYPES = { F16: 1, Q8_0: 7 } as const;

export async function exportGguf(options: GgufExport): Promise<void> {
  const { path, overwrite, reads, config, type, tokenizer, name, signal } = options;
  const metadata = new Map<string, GgufEntry>([
    ...ggufMetadataOf(config, { name, fileType: FILE_TYPES[type] }),
    ...tokenizer,
  ]);
  const tensors = [...rotaryFactors(config), ...options.tensors.map((tensor) => converted(tensor, config))];
  let offset = 0;
  const table = tensors.map((tensor): GgufTensor & { written: WrittenType } => {
    const written = typeOf(tensor, type);
    const entry = { name: tensor.name, shape: tensor.shape, type: WRITTEN_TYPES[written], offset, written };
    offset = align(offset + bytesOf(written, elementsOf(tensor.shape)));
    return entry;
  });
  await writeOutputFile({ path, overwrite, reads, kind: GGUF_FILE }, async (temporary) => {
    const file = await open(temporary, 'wx');
    try {
      await file.writeFile(encodeGgufHeader(metadata, table));
      for (const [i, tensor] of tensors.entries()) {
        signal?.throwIfAborted();
        const bytes = quantise(table[i].written, await tensor.read());
        await file.writeFile(bytes);
        await file.writeFile(new Uint8Array(align(bytes.length) - bytes.length));
      }
      await file.sync();
    } finally {
      await file.close();
    }
  });
}

/** One-dimensional tensors stay F32, since llama.cpp computes them so; rows that blocks of 32 do not fill become F16. */
function typeOf({ shape }: TensorToWrite, type: 'F16' | 'Q8_0'): WrittenType {
  if (shape.length < 2) return 'F32';
  return type === 'Q8_0' && shape.at(-1)! % 32 !== 0 ? 'F16' : type;
}

function converted(tensor: TensorToWrite, config: Readonly<Record<string, unknown>>): TensorToWrite {
  const architecture = architectureOf(config);
  const name = ggufName(architecture, tensor.name);
  if (name === undefined) {
    const message = `The tensor "${tensor.name}" has no name in a GGUF file of the architecture ${architecture}.`;
    throw new TabwrightError('config', message, { code: 'config-not-exportable', details: { tensor: tensor.name } });
  }
  const heads = config.num_attention_heads as number;
  const kvHeads = (config.num_key_value_heads as number | undefined) ?? heads;
  return {
    name,
    shape: tensor.shape,
    async read() {
      const data = await tensor.read();
      if (isShiftedNorm(architecture, tensor.name)) return data.map((value) => value + 1);
      if (architecture !== 'llama') return data;
      return reorderRotaryRows({ name: tensor.name, shape: tensor.shape, data }, 'pairs', { heads, kvHeads });
    },
  };
}

/** Llama 3's scaling of rotary frequencies, which llama.cpp expects as a tensor. */
function rotaryFactors(config: Readonly<Record<string, unknown>>): TensorToWrite[] {
  const { theta, type, settings } = ropeOf(config);
  if (type !== 'llama3') return [];
  const heads = config.num_attention_heads as number;
  const headDim = (config.head_dim as number | undefined) ?? (config.hidden_size as number) / heads;
  const factors = llama3RopeFactors(
    {
      factor: settings.factor as number,
      lowFrequencyFactor: settings.low_freq_factor as number,
      highFrequencyFactor: settings.high_freq_factor as number,
      originalPositions: settings.original_max_position_embeddings as number,
    },
    { theta: theta as number, headDim },
  );
  return [{ name: 'rope_freqs.weight', shape: [factors.length], read: () => factors }];
}

const align = (offset: number): number => Math.ceil(offset / DEFAULT_ALIGNMENT) * DEFAULT_ALIGNMENT;
const elementsOf = (shape: readonly number[]): number => shape.reduce((product, dim) => product * dim, 1);
