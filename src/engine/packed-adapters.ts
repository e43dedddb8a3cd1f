// Adapters as the decoding step of a large model takes them: those of matrices that are one product are one pair, A's rows
// one under the other and B's blocks along the diagonal, scaled. A product without any gets a pair of zeros.

import type { LoraConfig, LoraPart } from './lora.ts';
import type { ModelConfig } from './model-config.ts';
import { adapterInput, PRODUCTS, type ProductName } from './packed-step.ts';
import type { Feeds } from './session.ts';
import { weightSpecs } from './weights.ts';

export type AdapterSet = { readonly parts: readonly LoraPart[]; readonly config: LoraConfig; readonly weights: Feeds };

export function packAdapters(config: ModelConfig, set: AdapterSet | undefined): Feeds {
  const shapes = new Map(weightSpecs(config).map(({ name, shape }) => [name, shape]));
  const feeds: Record<string, Feeds[string]> = {};
  const pack = (layer: number | 'head', product: ProductName | 'head', names: readonly string[]): void => {
    const width = shapes.get(names[0])![1];
    const rows = names.map((name) => shapes.get(name)![0]);
    const out = rows.reduce((sum, count) => sum + count, 0);
    const parts = names.map((name) => set?.parts.find(({ weight }) => weight === name));
    const rank = set?.config.rank ?? 1;
    const ranks = Math.max(1, parts.filter((part) => part).length * rank);
    const a = new Float32Array(ranks * width);
    const b = new Float32Array(out * ranks);
    let at = 0;
    let row = 0;
    parts.forEach((part, i) => {
      if (part && set) {
        const scale = set.config.alpha / rank;
        const from = set.weights[part.b].data;
        a.set(set.weights[part.a].data as Float32Array, at * width);
        for (let r = 0; r < rows[i]; r++)
          for (let k = 0; k < rank; k++) b[(row + r) * ranks + at + k] = scale * Number(from[r * rank + k]);
        at += rank;
      }
      row += rows[i];
    });
    feeds[adapterInput(layer, product, 'a')] = { data: a, shape: [ranks, width] };
    feeds[adapterInput(layer, product, 'b')] = { data: b, shape: [out, ranks] };
  };
  for (let layer = 0; layer < config.layers; layer++)
    for (const product of Object.keys(PRODUCTS) as ProductName[])
      pack(
        layer,
        product,
        PRODUCTS[product].map((name) => `${layer}.${name}`),
      );
  if (!config.tieEmbeddings) pack('head', 'head', ['head']);
  return feeds;
}
