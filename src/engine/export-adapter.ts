// Adapters from a trainer's folder (a state or weights for sampling) to a PEFT folder. How that folder looks is
// `formats/peft-adapter.ts`; this knows where the numbers are.

import { TabwrightError } from '../core/index.ts';
import { loadAdapters } from './checkpoint.ts';
import { writePeftAdapter } from './formats/peft-adapter.ts';

export type AdapterToExport = {
  /** A folder of `saveState` or `saveWeightsForSampler`. */
  readonly from: string;
  readonly path: string;
  /** The model that the adapters belong to, as readers look it up. Default null, unknown. */
  readonly baseModel?: string | null;
  readonly overwrite?: boolean;
};

export async function exportAdapter({
  from,
  path,
  baseModel = null,
  overwrite = false,
}: AdapterToExport): Promise<void> {
  const { config, lora, adapters } = await loadAdapters(from);
  const fail = (why: string): TabwrightError =>
    new TabwrightError('backend', `${from} cannot become a PEFT folder: ${why}`, {
      code: 'no-peft-form',
      details: { from },
    });
  if (!lora || !adapters) throw fail('it holds every weight of the model, no adapters; export the whole model.');
  if (config.taps > 1)
    throw fail('its model has a convolution over the embeddings, which no Hugging Face architecture has.');
  await writePeftAdapter({
    tensors: adapters.tensors(),
    rank: lora.rank,
    alpha: lora.alpha,
    baseModel,
    path,
    overwrite,
    reads: [from],
  });
}
