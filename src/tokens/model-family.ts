// Which chat format a model speaks, and what its authors publish about it. Parameters and context are rounded figures of
// model cards: enough to plan memory and price, not to check a download. A model that is not here is refused with the list.

import { TabwrightError } from '../core/index.ts';
import { CHAT_FORMATS } from './formats.ts';

export type ModelFamily = {
  /** As on the hub, e.g. `Qwen/Qwen3-8B`. */
  readonly name: string;
  readonly family: string;
  /** The chat format that its own template defaults to. */
  readonly format: string;
  /** All of its formats, the default first. */
  readonly formats: readonly string[];
  /** Tokens, without stretching. */
  readonly contextTokens: number;
  readonly parameters: number;
  /** Of each token, where not all are used. */
  readonly activeParameters?: number;
  readonly licence: string;
  /** Pretrained only: it has the tokens of the format but was not taught it. */
  readonly base?: true;
};

type Family = {
  readonly family: string;
  readonly owner: string;
  readonly format: string;
  readonly contextTokens: number;
  readonly licence: string;
  /** Name, parameters and active parameters in 1e9; then what differs from the family. */
  readonly models: readonly Row[];
};
type Row = readonly [
  name: string,
  parameters: number,
  active?: number,
  own?: { readonly format?: string; readonly contextTokens?: number; readonly licence?: string; readonly base?: true },
];

const APACHE = 'Apache-2.0';
const NVIDIA = 'NVIDIA Open Model License';
const K = 1024;
const BASE = { base: true } as const;

const FAMILIES: readonly Family[] = [
  {
    family: 'qwen2.5',
    owner: 'Qwen',
    format: 'qwen2.5',
    contextTokens: 32 * K,
    licence: APACHE,
    models: ['Qwen2.5', 'Qwen2.5-Coder'].flatMap((name): Row[] => [
      [`${name}-0.5B-Instruct`, 0.494],
      [`${name}-1.5B-Instruct`, 1.54],
      [`${name}-3B-Instruct`, 3.09, undefined, { licence: 'Qwen Research License' }],
      [`${name}-7B-Instruct`, 7.62],
      [`${name}-14B-Instruct`, 14.8],
      [`${name}-32B-Instruct`, 32.8],
      ...(name === 'Qwen2.5' ? [[`${name}-72B-Instruct`, 72.7, undefined, { licence: 'Qwen License' }] as Row] : []),
    ]),
  },
  {
    family: 'qwen3',
    owner: 'Qwen',
    format: 'qwen3',
    contextTokens: 32 * K,
    licence: APACHE,
    models: [
      ['Qwen3-0.6B', 0.596],
      ['Qwen3-1.7B', 1.72],
      ['Qwen3-4B', 4.02],
      ['Qwen3-8B', 8.19],
      ['Qwen3-14B', 14.8],
      ['Qwen3-32B', 32.8],
      ['Qwen3-30B-A3B', 30.5, 3.3],
      ['Qwen3-235B-A22B', 235, 22],
      ['Qwen3-0.6B-Base', 0.596, undefined, BASE],
      ['Qwen3-1.7B-Base', 1.72, undefined, BASE],
      ['Qwen3-4B-Base', 4.02, undefined, BASE],
      ['Qwen3-8B-Base', 8.19, undefined, BASE],
      ['Qwen3-14B-Base', 14.8, undefined, BASE],
      ['Qwen3-30B-A3B-Base', 30.5, 3.3, BASE],
    ],
  },
  ...(['instruct', 'thinking'] as const).map((kind): Family => {
    const suffix = kind === 'instruct' ? 'Instruct' : 'Thinking';
    return {
      family: 'qwen3',
      owner: 'Qwen',
      format: `qwen3-${kind}-2507`,
      contextTokens: 256 * K,
      licence: APACHE,
      models: [
        [`Qwen3-4B-${suffix}-2507`, 4.02],
        [`Qwen3-30B-A3B-${suffix}-2507`, 30.5, 3.3],
        [`Qwen3-235B-A22B-${suffix}-2507`, 235, 22],
        [`Qwen3-Next-80B-A3B-${suffix}`, 80, 3],
      ],
    };
  }),
  {
    family: 'qwen3.5',
    owner: 'Qwen',
    format: 'qwen3.5',
    contextTokens: 256 * K,
    licence: APACHE,
    models: [
      ['Qwen3.5-0.8B', 0.8, undefined, { format: 'qwen3.5+no-thinking' }],
      ['Qwen3.5-2B', 2, undefined, { format: 'qwen3.5+no-thinking' }],
      ['Qwen3.5-4B', 4],
      ['Qwen3.5-9B', 9],
      ['Qwen3.5-27B', 27],
      ['Qwen3.5-35B-A3B', 35, 3],
      ['Qwen3.5-122B-A10B', 122, 10],
      ['Qwen3.5-397B-A17B', 397, 17],
      ['Qwen3.5-0.8B-Base', 0.8, undefined, { format: 'qwen3.5+no-thinking', base: true }],
      ['Qwen3.5-2B-Base', 2, undefined, { format: 'qwen3.5+no-thinking', base: true }],
      ['Qwen3.5-4B-Base', 4, undefined, BASE],
      ['Qwen3.5-9B-Base', 9, undefined, BASE],
      ['Qwen3.5-35B-A3B-Base', 35, 3, BASE],
    ],
  },
  {
    family: 'qwen3.6',
    owner: 'Qwen',
    format: 'qwen3.6',
    contextTokens: 256 * K,
    licence: APACHE,
    models: [
      ['Qwen3.6-27B', 27],
      ['Qwen3.6-35B-A3B', 35, 3],
    ],
  },
  {
    family: 'llama3',
    owner: 'meta-llama',
    format: 'llama3',
    contextTokens: 8 * K,
    licence: 'Llama 3 Community License',
    models: [
      ['Meta-Llama-3-8B-Instruct', 8.03],
      ['Meta-Llama-3-70B-Instruct', 70.6],
    ],
  },
  {
    family: 'llama3.1',
    owner: 'meta-llama',
    format: 'llama3.1',
    contextTokens: 128 * K,
    licence: 'Llama 3.1 Community License',
    models: [
      ['Llama-3.1-8B-Instruct', 8.03],
      ['Llama-3.1-70B-Instruct', 70.6],
      ['Llama-3.1-405B-Instruct', 406],
      ['Llama-3.3-70B-Instruct', 70.6, undefined, { licence: 'Llama 3.3 Community License' }],
    ],
  },
  {
    family: 'llama3.2',
    owner: 'meta-llama',
    format: 'llama3.2',
    contextTokens: 128 * K,
    licence: 'Llama 3.2 Community License',
    models: [
      ['Llama-3.2-1B-Instruct', 1.24],
      ['Llama-3.2-3B-Instruct', 3.21],
    ],
  },
  {
    family: 'smollm2',
    owner: 'HuggingFaceTB',
    format: 'smollm2',
    contextTokens: 8 * K,
    licence: APACHE,
    models: [
      ['SmolLM2-135M-Instruct', 0.135],
      ['SmolLM2-360M-Instruct', 0.362],
      ['SmolLM2-1.7B-Instruct', 1.71],
    ],
  },
  {
    family: 'gpt-oss',
    owner: 'openai',
    format: 'gpt-oss',
    contextTokens: 128 * K,
    licence: APACHE,
    models: [
      ['gpt-oss-20b', 20.9, 3.6],
      ['gpt-oss-120b', 117, 5.1],
    ],
  },
  ...(
    [
      ['nano', 'NVIDIA-Nemotron-3-Nano-30B-A3B-BF16', 31.6, 3.6],
      ['super', 'NVIDIA-Nemotron-3-Super-120B-A12B-BF16', 120, 12],
      ['ultra', 'NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16', 550, 55],
    ] as const
  ).map(([kind, name, parameters, active]): Family => ({
    family: `nemotron3-${kind}`,
    owner: 'nvidia',
    format: `nemotron3-${kind}`,
    contextTokens: 256 * K,
    licence: NVIDIA,
    models: [[name, parameters, active]],
  })),
  {
    family: 'gemma3',
    owner: 'google',
    format: 'gemma3',
    contextTokens: 128 * K,
    licence: 'Gemma Terms of Use',
    models: [
      ['gemma-3-270m-it', 0.268, undefined, { contextTokens: 32 * K }],
      ['gemma-3-1b-it', 1.0, undefined, { contextTokens: 32 * K }],
      ['gemma-3-4b-it', 4.3],
      ['gemma-3-12b-it', 12.2],
      ['gemma-3-27b-it', 27.4],
    ],
  },
];

const MODELS: ReadonlyMap<string, ModelFamily> = new Map(
  FAMILIES.flatMap((family) =>
    family.models.map(([model, parameters, active, own]): [string, ModelFamily] => {
      const name = `${family.owner}/${model}`;
      const format = own?.format ?? family.format;
      return [
        name.toLowerCase(),
        {
          name,
          family: family.family,
          format,
          formats: [format, ...variantsOf(format).filter((variant) => variant !== format)],
          contextTokens: own?.contextTokens ?? family.contextTokens,
          parameters: Math.round(parameters * 1e9),
          ...(active === undefined ? {} : { activeParameters: Math.round(active * 1e9) }),
          licence: own?.licence ?? family.licence,
          ...(own?.base === true ? { base: true } : {}),
        },
      ];
    }),
  ),
);

function variantsOf(format: string): string[] {
  const family = format.split('+')[0] ?? format;
  return CHAT_FORMATS.filter((name) => name === family || name.startsWith(`${family}+`));
}

/** Publishes copies of others' models under their names. */
const MIRROR = 'unsloth/';

/**
 * Of a model by its name on the hub; `hf:` and `tinker:` in front and `@revision` behind are ignored, and unsloth's copies
 * count as the original.
 */
export function modelFamily(name: string): ModelFamily {
  const plain = name.replace(/^(?:hf|tinker):/, '').replace(/@[^/@]*$/, '');
  const key = plain.toLowerCase();
  const model = key.startsWith(MIRROR) ? mirrored(key.slice(MIRROR.length)) : MODELS.get(key);
  if (model !== undefined) return model;
  const names = [...MODELS.values()].map((known) => known.name);
  throw new TabwrightError(
    'config',
    `No chat format is known for the model ${plain}. Known models: ${names.join(', ')}. Name a format for it (one of ` +
      `${CHAT_FORMATS.join(', ')}), or use its own chat template.`,
    { code: 'unknown-model', details: { model: plain } },
  );
}

function mirrored(model: string): ModelFamily | undefined {
  return [...MODELS.values()].find(({ name }) => name.toLowerCase().endsWith(`/${model}`));
}

/** Every known model, by name. */
export const KNOWN_MODELS: readonly string[] = [...MODELS.values()].map(({ name }) => name);
