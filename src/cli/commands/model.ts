// `tabwright model info` and `tabwright model export`: what a model is, and what was trained in forms that others read.

import { basename } from 'node:path';
import { z } from 'zod';
import { TabwrightError, type JsonObject } from '../../core/index.ts';
import {
  exportGguf,
  mergedModel,
  parseHuggingFaceConfig,
  readTrained,
  writeMergedFolder,
  writePeftAdapter,
  type GgufEntry,
  type MergedModel,
  type Trained,
} from '../../engine/index.ts';
import {
  ggufEndTokens,
  ggufTokenizerFiles,
  KNOWN_MODELS,
  modelFamily,
  tokenizerToGguf,
  type ModelFamily,
} from '../../tokens/index.ts';
import { TINKER_SCHEME } from '../../tinker/index.ts';
import { withTinkerArchive } from '../tinker-archive.ts';
import { estimateMemory, MEMORY_ASSUMPTIONS, type MemoryEstimate } from '../model-memory.ts';
import { openModel, type LoadedModel } from '../models.ts';
import { findPretrained } from '../open-pretrained.ts';
import { openModelSource, type OpenedModel, type ResolveModelOptions } from '../model-source.ts';
import type { CommandContext, CommandSpec } from '../run-command.ts';
import { modelCompanions } from './model-companions.ts';

const infoSchema = z.strictObject({
  name: z
    .string()
    .min(1)
    .describe('hf:owner/name[@revision], gguf:file, a model or run folder, nano, or a name like Qwen/Qwen3-8B'),
  as: z
    .string()
    .min(1)
    .optional()
    .describe('name by which its chat format is known, e.g. HuggingFaceTB/SmolLM2-135M-Instruct'),
});

export const modelInfo: CommandSpec<typeof infoSchema> = {
  name: 'info',
  summary: 'Say what a model is: its family and chat format, size, licence, and the memory that it takes.',
  examples: ['model info --name hf:HuggingFaceTB/SmolLM2-135M-Instruct', 'model info --name Qwen/Qwen3-8B'],
  schema: infoSchema,
  flags: [],
  async action({ config: { name, as }, print, ...context }) {
    if (KNOWN_MODELS.includes(name)) {
      const known = modelFamily(name);
      print(describe(known, []), { ...known, formats: [...known.formats] });
      return;
    }
    if (!/^(?:hf|gguf):/.test(name) && (await findPretrained(name, resolving(context))) === undefined) {
      const own = await openModel(name, { adaptersToo: true, ...resolving(context) });
      const { text, json } = describeOwn(own);
      print(text, json);
      return;
    }
    const opened = await openModelSource(name, resolving(context));
    const { source, files, types } = opened;
    try {
      const known = modelFamily(as ?? knownName(opened) ?? basename(files.path));
      const { config } = parseHuggingFaceConfig(source.config, { origin: source.origin });
      const parameters = source.names.reduce((sum, each) => sum + source.shapeOf(each).reduce((a, b) => a * b, 1), 0);
      const memory = estimateMemory(config, parameters);
      const lines = [
        `files              ${files.path}`,
        ...(types ? [`element types      ${types.join(', ')} (computed with as 32-bit floats)`] : []),
        ...memoryLines(memory),
      ];
      const exact = { ...known, parameters, contextTokens: contextOf(source.config) ?? known.contextTokens };
      print(describe(exact, lines), { ...exact, formats: [...known.formats], ...memory, path: files.path });
    } finally {
      await source.close();
    }
  },
};

function describe(known: ModelFamily, lines: readonly string[]): string {
  const { parameters, activeParameters = parameters } = known;
  return [
    `model              ${known.name}`,
    `family             ${known.family}`,
    `renderer           ${known.format}${known.formats.length > 1 ? ` (also ${known.formats.slice(1).join(', ')})` : ''}`,
    `context            ${known.contextTokens.toLocaleString('en')} tokens`,
    `parameters         ${millions(parameters)}`,
    `active parameters  ${millions(activeParameters)}`,
    `licence            ${known.licence}`,
    ...lines,
  ].join('\n');
}

/** Nano, or a model or run whose weights are in a format of ours: nobody else gave it a family or a licence. */
function describeOwn({ name, config, weights, adapters, family, renderer }: LoadedModel): {
  readonly text: string;
  readonly json: JsonObject;
} {
  const parameters = weights.flat.length;
  const memory = estimateMemory(config, parameters);
  const known = {
    name,
    family: family ?? 'nano',
    renderer: renderer.name,
    contextTokens: config.maxPositions,
    parameters,
  };
  const text = [
    `model              ${name}`,
    `family             ${known.family}`,
    `renderer           ${known.renderer}`,
    `context            ${known.contextTokens.toLocaleString('en')} tokens`,
    `parameters         ${millions(parameters)}`,
    ...(adapters === undefined ? [] : [`adapters           ${adapters}`]),
    ...memoryLines(memory),
  ].join('\n');
  return { text, json: { ...known, ...memory, ...(adapters === undefined ? {} : { adapters }) } };
}

function memoryLines({ samplingBytes, trainingBytes }: MemoryEstimate): readonly string[] {
  const { sequences, sequenceTokens, trainingTokens, rank } = MEMORY_ASSUMPTIONS;
  return [
    `sampling takes     about ${gigabytes(samplingBytes)} (${sequences} sequences of ${sequenceTokens} tokens)`,
    `LoRA training      about ${gigabytes(trainingBytes)} (rank ${rank}, ${trainingTokens} tokens at a time)`,
  ];
}

const millions = (count: number): string =>
  count >= 1e9 ? `${(count / 1e9).toFixed(2)} B` : `${(count / 1e6).toFixed(1)} M`;
const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

function contextOf(config: unknown): number | undefined {
  const value = (config as Readonly<Record<string, unknown>>).max_position_embeddings;
  return typeof value === 'number' ? value : undefined;
}

/** The name on the hub, or what a GGUF file says of itself. */
function knownName({ files, metadata }: OpenedModel): string | undefined {
  if (files.kind === 'folder') return files.hubName;
  const value = (key: string): string | undefined => {
    const found = metadata?.get(`general.${key}`)?.value;
    return typeof found === 'string' ? found : undefined;
  };
  const file = basename(files.path)
    .replace(/[.-](?:[A-Z]*F\d+|I?Q\d\w*)\.gguf$/i, '')
    .replace(/\.gguf$/, '');
  const owner = value('organization');
  return KNOWN_MODELS.find((known) => known === `${owner}/${file}` || known.endsWith(`/${file}`)) ?? value('name');
}

const exportSchema = z.strictObject({
  base: z
    .string()
    .min(1)
    .optional()
    .describe('model that was trained: hf:owner/name, gguf:file or a folder; not needed for --adapter'),
  from: z
    .string()
    .min(1)
    .optional()
    .describe(
      'what was trained: a checkpoint or PEFT folder, a Tinker archive, or a tinker:// path of a server (default: nothing, the base as it is)',
    ),
  adapter: z.string().min(1).optional().describe('PEFT folder to write'),
  merged: z.string().min(1).optional().describe('Hugging Face folder to write, the adapter folded in'),
  gguf: z.string().min(1).optional().describe('GGUF file to write, the adapter folded in'),
  type: z
    .enum(['f32', 'f16', 'bf16', 'q8_0'])
    .optional()
    .describe('of the matrices: f32, f16 or bf16 for --merged (default f32), f16 or q8_0 for --gguf (default f16)'),
  replace: z.boolean().default(false).describe('replace an earlier export of the same kind'),
});
type ExportSettings = z.infer<typeof exportSchema>;

export const modelExport: CommandSpec<typeof exportSchema> = {
  name: 'export',
  summary: 'Write what was trained as a PEFT adapter, a Hugging Face folder or a GGUF file.',
  examples: [
    'model export --from runs/rl/checkpoints/final --adapter my-adapter',
    'model export --from tinker://run/sampler_weights/train-000060 --base hf:Qwen/Qwen3-8B --adapter my-adapter',
    'model export --base hf:HuggingFaceTB/SmolLM2-135M-Instruct --from my-adapter --merged my-model',
    'model export --base gguf:model.gguf --from checkpoint.tar.gz --gguf my-model.gguf --type q8_0',
  ],
  schema: exportSchema,
  flags: ['baseUrl'],
  async action(context) {
    const { config, given, signal } = context;
    const { from } = config;
    if (from?.startsWith(TINKER_SCHEME) !== true) {
      if (given.baseUrl !== undefined) throw usage('--base-url is for --from tinker://...');
      return exportTrained(context);
    }
    await withTinkerArchive({ path: from, baseUrl: given.baseUrl, signal }, (archive) =>
      exportTrained({ ...context, config: { ...config, from: archive } }),
    );
  },
};

async function exportTrained({ config, print, ...context }: CommandContext<ExportSettings>): Promise<void> {
  const { adapter: path, merged, gguf, replace: overwrite, from } = config;
  if ([path, merged, gguf].filter(Boolean).length !== 1) {
    throw usage('Name one of --adapter, --merged and --gguf: what is to be written.');
  }
  const { signal } = context;
  const trained = from === undefined ? undefined : await readTrained(from, { signal });
  if (path !== undefined) {
    if (trained?.kind !== 'adapter') throw usage('--adapter needs --from with an adapter; there is none.');
    const baseModel = config.base?.replace(/^hf:/, '') ?? trained.adapter.baseModel;
    await writePeftAdapter({ ...trained.adapter, baseModel, path, overwrite, reads: [from!], signal });
    print(`Adapter written to ${path}`, { adapter: path });
    return;
  }
  const base = config.base ?? (trained?.kind === 'adapter' ? trained.adapter.baseModel : undefined);
  if (!base) throw usage('Name the model that was trained with --base.');
  const opened = await openModelSource(base, resolving(context));
  try {
    const model = modelOf(opened, trained, signal);
    if (merged !== undefined) await exportMerged({ opened, model, path: merged, config, signal });
    else await exportFile({ opened, model, path: gguf!, config, signal });
  } finally {
    await opened.source.close();
  }
  print(`Model written to ${merged ?? gguf}`, { ...(merged ? { merged } : { gguf: gguf! }) });
}

function modelOf({ source }: OpenedModel, trained: Trained | undefined, signal: AbortSignal): MergedModel {
  if (trained?.kind !== 'whole')
    return mergedModel({ source, signal, ...(trained ? { adapter: trained.adapter } : {}) });
  const strange = trained.tensors.find(({ name }) => !source.names.includes(name));
  if (strange || trained.tensors.length !== source.names.length) {
    throw new TabwrightError('config', `What was trained is not ${source.origin}: it has other tensors.`, {
      code: 'adapter-misfit',
      details: { origin: source.origin },
    });
  }
  return {
    config: source.config as Readonly<Record<string, unknown>>,
    tensors: trained.tensors.map(({ name, shape, data }) => ({ name, shape, read: () => data })),
  };
}

type Export = {
  readonly opened: OpenedModel;
  readonly model: MergedModel;
  readonly path: string;
  readonly config: ExportSettings;
  readonly signal: AbortSignal;
};

/** What an export is made of, in a place where none may be written. */
const readFor = ({ opened: { files }, config: { from } }: Export): readonly string[] =>
  from === undefined ? [files.path] : [files.path, from];

async function exportMerged(exported: Export): Promise<void> {
  const { opened, model, path, signal } = exported;
  const { type = 'f32', replace } = exported.config;
  if (type === 'q8_0') throw usage('--type q8_0 is for --gguf; --merged takes f32, f16 or bf16.');
  const { files, metadata } = opened;
  const common = {
    path,
    overwrite: replace,
    reads: readFor(exported),
    ...model,
    type: ({ f32: 'F32', f16: 'F16', bf16: 'BF16' } as const)[type],
    signal,
  };
  if (files.kind === 'gguf') {
    const texts = ggufTokenizerFiles({ name: files.path, metadata: metadata! });
    // A folder has one list for what a file has several keys or names for.
    const ends = ggufEndTokens(metadata!);
    const own = ends.length > 1 ? { config: { ...model.config, eos_token_id: ends } } : {};
    await writeMergedFolder({ ...common, ...own, texts });
    return;
  }
  await writeMergedFolder({ ...common, copies: (await modelCompanions(files.path)).files });
}

async function exportFile(exported: Export): Promise<void> {
  const { opened, model, path, signal } = exported;
  const { type = 'f16', replace } = exported.config;
  if (type !== 'f16' && type !== 'q8_0') throw usage(`--type ${type} is for --merged; --gguf takes f16 or q8_0.`);
  const { config } = model;
  await exportGguf({
    path,
    overwrite: replace,
    reads: readFor(exported),
    ...model,
    type: type === 'f16' ? 'F16' : 'Q8_0',
    tokenizer: await tokenizerEntries(opened, config),
    name: basename(opened.files.path).replace(/\.gguf$/, ''),
    signal,
  });
}

async function tokenizerEntries(
  { files, metadata }: OpenedModel,
  config: Readonly<Record<string, unknown>>,
): Promise<ReadonlyMap<string, GgufEntry>> {
  if (files.kind === 'gguf') return new Map([...metadata!].filter(([key]) => key.startsWith('tokenizer.')));
  const { text, json: jsonOf } = await modelCompanions(files.path);
  const json = await jsonOf('tokenizer.json');
  if (json === undefined) {
    throw new TabwrightError(
      'config',
      `${files.path} has no tokenizer.json, without which llama.cpp cannot read text.`,
      {
        code: 'no-tokenizer',
        details: { path: files.path },
      },
    );
  }
  const chatTemplate = await text('chat_template.jinja');
  return tokenizerToGguf({
    name: files.path,
    json,
    config: (await jsonOf('tokenizer_config.json')) ?? {},
    vocabSize: config.vocab_size as number,
    ids: config,
    ...(chatTemplate === undefined ? {} : { chatTemplate }),
  });
}

type Resolving = Pick<CommandContext<unknown>, 'signal' | 'listener'>;

function resolving({ signal, listener }: Resolving): ResolveModelOptions {
  let shown = -1;
  return {
    signal,
    onProgress({ file, bytes, totalBytes }) {
      const tenth = Math.floor((10 * bytes) / totalBytes);
      if (tenth === shown) return;
      shown = tenth;
      listener({
        kind: 'note',
        level: 'info',
        message: `fetching ${file}: ${tenth * 10} % of ${gigabytes(totalBytes)}`,
      });
    },
  };
}

function usage(message: string): TabwrightError {
  return new TabwrightError('config', `${message} See --help for what is possible.`, { code: 'bad-option' });
}
