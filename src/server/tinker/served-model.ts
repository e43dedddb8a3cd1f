// A model that is served: what computes, and what can be said in its words. Concrete parts come in from outside.

import type { Backend, ChatRenderer, Tokenizer } from '../../core/index.ts';
import { userFault } from './refusals.ts';

export type ServedModel = {
  /** What clients may call it, e.g. `nano` or a hub's name; the first is its own. */
  readonly names: readonly string[];
  readonly backend: Backend;
  /** Family, as `get_info` tells it. */
  readonly architecture?: string;
  /** End a sample where no stop is asked for. */
  readonly endTokens: readonly number[];
  /** Needed for stop texts and for endpoints that speak in text. */
  readonly tokenizer?: Tokenizer;
  /** Needed for chat. */
  readonly chat?: ChatRenderer;
  /** Where clients find its tokenizer: a hub's name or a folder. Default: the name they asked for. */
  readonly tokenizerId?: string;
  /** Largest rank of adapters. Default 256. */
  readonly maxRank?: number;
  /** Writes the adapters of a saved state as a PEFT folder; throws where the model has no such form. */
  readonly exportAdapter?: (statePath: string, folder: string, baseModel: string) => Promise<void>;
};

export class ServedModels {
  readonly all: readonly ServedModel[];
  readonly #byName = new Map<string, ServedModel>();

  constructor(models: readonly ServedModel[]) {
    this.all = models;
    for (const model of models) for (const name of model.names) this.#byName.set(name, model);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  find(name: string): ServedModel | undefined {
    return this.#byName.get(name);
  }

  get(name: string): ServedModel {
    const found = this.find(name);
    if (found !== undefined) return found;
    throw userFault(`base_model ${JSON.stringify(name)} is not served here; served are ${this.names.join(', ')}.`);
  }
}
