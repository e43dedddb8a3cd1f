// A pretrained model from wherever its weights lie: its config in the engine's terms, its tensors under the engine's
// names. What is missing or has another shape is said by its Hugging Face name.

import { TabwrightError, type CallOptions } from '../core/index.ts';
import { parseHuggingFaceConfig, type ModelFamily } from './hugging-face-config.ts';
import type { ModelConfig } from './model-config.ts';
import type { WeightSource } from './weight-source.ts';
import { Weights, weightSpecs } from './weights.ts';

/** Rotary tables and caches grow with the context; few models are used up to theirs on a CPU. */
const DEFAULT_CONTEXT = 8192;

export type PretrainedModel = {
  readonly family: ModelFamily;
  readonly config: ModelConfig;
  readonly weights: Weights;
};

export type PretrainedOptions = CallOptions & {
  /** Longest sequence, at most the model's. Default 8,192. */
  readonly contextLength?: number;
};

export async function loadPretrained(
  source: WeightSource,
  { signal, contextLength = DEFAULT_CONTEXT }: PretrainedOptions = {},
): Promise<PretrainedModel> {
  const { origin } = source;
  const { family, config } = parseHuggingFaceConfig(source.config, { origin, contextLength });
  const specs = weightSpecs(config);
  const there = new Set(source.names);
  const missing = specs.filter(({ tensor }) => !there.has(tensor)).map(({ tensor }) => tensor);
  if (missing.length > 0) {
    throw new TabwrightError(
      'store',
      `${origin} lacks ${missing.length} tensors of its config, first "${missing[0]}".`,
      {
        code: 'tensor-missing',
        details: { origin, tensor: missing[0] },
      },
    );
  }
  const needed = new Set(specs.map(({ tensor }) => tensor));
  // A second copy of a tied head is common and harmless; anything else would be left out of the computation.
  const unused = source.names.filter((name) => !needed.has(name) && !isHarmless(name, config));
  if (unused.length > 0) {
    throw new TabwrightError(
      'store',
      `${origin} has ${unused.length} tensors that its config does not ask for, first "${unused[0]}"; it is another architecture than it says.`,
      { code: 'tensor-unknown', details: { origin, tensor: unused[0] } },
    );
  }
  const weights = new Weights(specs);
  for (const { name, tensor, shape } of specs) {
    const found = source.shapeOf(tensor);
    if (found.join() !== shape.join()) {
      throw new TabwrightError(
        'store',
        `${origin}: tensor "${tensor}" has shape [${found.join(', ')}], but the config asks for [${shape.join(', ')}].`,
        { code: 'tensor-shape', details: { origin, tensor } },
      );
    }
    weights.view(name).set(await source.read(tensor, signal ? { signal } : {}));
  }
  return { family, config, weights };
}

function isHarmless(name: string, { tieEmbeddings }: ModelConfig): boolean {
  return name.endsWith('rotary_emb.inv_freq') || (tieEmbeddings && name === 'lm_head.weight');
}
