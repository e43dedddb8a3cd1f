// A GGUF file as a source of weights: tensors under their Hugging Face names, dequantised one at a time, in Hugging
// Face's row order. What is in the file but not understood is refused when it is opened, not when it is missed.

import type { FileHandle } from 'node:fs/promises';
import { TabwrightError } from '../../core/index.ts';
import type { WeightSource } from '../weight-source.ts';
import { dequantise } from './dequantise.ts';
import { ggufArchitecture, huggingFaceConfigOf } from './gguf-config.ts';
import { openFile, readExactly, readGgufHeader, type GgufHeader } from './gguf-header.ts';
import { huggingFaceName, isShiftedNorm, reorderRotaryRows, type GgufArchitecture } from './gguf-names.ts';
import { ggmlTypeName, READABLE_TYPES, type GgufMetadata, type GgufTensor } from './gguf-types.ts';
import { llama3RopeOf, type Llama3Rope } from './rope-factors.ts';

/** Elements dequantised at a time; a multiple of every block. */
const CHUNK_ELEMENTS = 1 << 20;

const ROPE_FACTORS = 'rope_freqs.weight';

export type GgufModel = {
  readonly source: WeightSource;
  /** Everything else that the file says; the tokenizer among it. */
  readonly metadata: GgufMetadata;
  /** Names of the element types in the file, the most frequent first. */
  readonly types: readonly string[];
};

export async function openGguf(path: string): Promise<GgufModel> {
  const header = await readGgufHeader(path);
  const { metadata, tensors } = header;
  const architecture = ggufArchitecture(metadata, path);
  const byName = new Map<string, GgufTensor>();
  const counts = new Map<string, number>();
  for (const tensor of tensors) {
    checkTensor(tensor, header, path);
    const type = ggmlTypeName(tensor.type);
    counts.set(type, (counts.get(type) ?? 0) + 1);
    if (isRopeFactors(tensor, architecture)) continue;
    const name = huggingFaceName(architecture, tensor.name);
    if (name === undefined) {
      const message = `${path}: tensor "${tensor.name}" does not belong to the architecture ${architecture} as read here.`;
      throw new TabwrightError('store', message, { code: 'tensor-unknown', details: { path, tensor: tensor.name } });
    }
    byName.set(name, tensor);
  }
  const file = await openFile(path);
  try {
    const config = await configOf(file, { header, byName, path });
    const heads = config.num_attention_heads as number;
    const kvHeads = config.num_key_value_heads as number;
    const find = (name: string): GgufTensor => {
      const tensor = byName.get(name);
      if (tensor) return tensor;
      throw new TabwrightError('store', `${path} has no tensor for "${name}"; it is not a whole model.`, {
        code: 'tensor-missing',
        details: { path, tensor: name },
      });
    };
    const source: WeightSource = {
      origin: path,
      config,
      names: [...byName.keys()],
      shapeOf: (name) => find(name).shape,
      async read(name, { signal } = {}) {
        const tensor = find(name);
        const data = await readTensor(file, { tensor, header, path, signal });
        if (isShiftedNorm(architecture, name)) for (let i = 0; i < data.length; i++) data[i] -= 1;
        if (architecture !== 'llama') return data;
        return reorderRotaryRows({ name, shape: tensor.shape, data }, 'halves', { heads, kvHeads });
      },
      close: () => file.close(),
    };
    const types = [...counts].sort((a, b) => b[1] - a[1]).map(([type]) => type);
    return { source, metadata, types };
  } catch (error) {
    await file.close();
    throw error;
  }
}

type Opened = {
  readonly header: GgufHeader;
  readonly byName: ReadonlyMap<string, GgufTensor>;
  readonly path: string;
};

async function configOf(file: FileHandle, { header, byName, path }: Opened): Promise<Record<string, unknown>> {
  const embedding = byName.get('model.embed_tokens.weight');
  if (!embedding) {
    throw new TabwrightError('store', `${path} has no tensor "token_embd.weight"; it is not a whole model.`, {
      code: 'tensor-missing',
      details: { path, tensor: 'token_embd.weight' },
    });
  }
  const has = (suffix: string): boolean => byName.has(`model.layers.0.${suffix}`);
  const facts = {
    vocabSize: embedding.shape[0],
    hasOutputMatrix: byName.has('lm_head.weight'),
    hasAttentionBias: has('self_attn.q_proj.bias'),
    hasMlpBias: has('mlp.up_proj.bias'),
  };
  const config = huggingFaceConfigOf(header.metadata, facts, path);
  const architecture = ggufArchitecture(header.metadata, path);
  const factors = header.tensors.find((tensor) => isRopeFactors(tensor, architecture));
  if (!factors) return config;
  const llama3Rope = await readRope(file, { factors, header, path, config });
  return huggingFaceConfigOf(header.metadata, { ...facts, llama3Rope }, path);
}

/** llama.cpp reads them for this architecture alone. */
function isRopeFactors({ name }: GgufTensor, architecture: GgufArchitecture): boolean {
  return name === ROPE_FACTORS && architecture === 'llama';
}

async function readRope(
  file: FileHandle,
  {
    factors,
    header,
    path,
    config,
  }: {
    readonly factors: GgufTensor;
    readonly header: GgufHeader;
    readonly path: string;
    readonly config: Readonly<Record<string, unknown>>;
  },
): Promise<Llama3Rope> {
  const values = await readTensor(file, { tensor: factors, header, path });
  const rope = llama3RopeOf(values, { theta: config.rope_theta as number, headDim: config.head_dim as number });
  if (rope) return rope;
  const message = `${path}: ${ROPE_FACTORS} holds rotary factors of no known kind (Llama 3.1's and 3.2's are read here).`;
  throw new TabwrightError('config', message, { code: 'rope-not-supported', details: { path } });
}

function checkTensor({ name, shape, type, offset }: GgufTensor, header: GgufHeader, path: string): void {
  const refuse = (what: string, code: string): TabwrightError =>
    new TabwrightError('store', `${path}: tensor "${name}" ${what}`, { code, details: { path, tensor: name } });
  const known = READABLE_TYPES.get(type);
  if (!known) {
    const names = [...READABLE_TYPES.values()].map((each) => each.name).join(', ');
    throw refuse(
      `has the type ${ggmlTypeName(type)}; read here are ${names}. Take another file of the model.`,
      'tensor-type',
    );
  }
  const elements = shape.reduce((product, dim) => product * dim, 1);
  const row = shape.at(-1) ?? 1;
  if (row % known.elements !== 0) {
    throw refuse(
      `has rows of ${row}, which ${known.name} cannot have. The file is damaged; fetch it again.`,
      'bad-gguf',
    );
  }
  const bytes = (elements / known.elements) * known.bytes;
  const end = header.dataStart + offset + bytes;
  if (end > header.fileBytes) {
    const what = `of shape [${shape.join(', ')}] ends at byte ${end} of ${header.fileBytes}: the file is cut short; fetch it again.`;
    throw refuse(what, 'bad-gguf');
  }
}

/** New storage, filled chunk by chunk, so that a tensor is held once and a little of its bytes beside it. */
async function readTensor(
  file: FileHandle,
  {
    tensor,
    header,
    path,
    signal,
  }: {
    readonly tensor: GgufTensor;
    readonly header: GgufHeader;
    readonly path: string;
    readonly signal?: AbortSignal;
  },
): Promise<Float32Array> {
  const type = READABLE_TYPES.get(tensor.type)!;
  const into = new Float32Array(tensor.shape.reduce((product, dim) => product * dim, 1));
  const start = header.dataStart + tensor.offset;
  const scratch = new Uint8Array((Math.min(CHUNK_ELEMENTS, into.length) / type.elements) * type.bytes);
  for (let done = 0; done < into.length; done += CHUNK_ELEMENTS) {
    signal?.throwIfAborted();
    const part = into.subarray(done, Math.min(done + CHUNK_ELEMENTS, into.length));
    const bytes = scratch.subarray(0, (part.length / type.elements) * type.bytes);
    await readExactly(file, { into: bytes, position: start + (done / type.elements) * type.bytes, path });
    dequantise(type.name, bytes, part);
  }
  const bad = into.findIndex((value) => !Number.isFinite(value));
  if (bad < 0) return into;
  const message = `${path}: tensor "${tensor.name}" holds ${into[bad]} at element ${bad}; the file is damaged, fetch it again.`;
  throw new TabwrightError('store', message, { code: 'tensor-not-finite', details: { path, tensor: tensor.name } });
}
