// The `tokenizer.*` keys of a GGUF file, each read with a schema, and the refusal that names the file. What the keys mean is
// said by those who ask for them.

import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';

/** `tokenizer.*` keys of a GGUF file; others among them do not matter. */
export type GgufTokenizerMetadata = ReadonlyMap<string, { readonly value: unknown }>;

export class TokenizerMetadata {
  readonly #name: string;
  readonly #metadata: GgufTokenizerMetadata;

  /** `name` is for messages. */
  constructor(name: string, metadata: GgufTokenizerMetadata) {
    this.#name = name;
    this.#metadata = metadata;
  }

  /** `key` without `tokenizer.ggml.` in front. */
  read<T>(key: string, schema: z.ZodType<T>): T {
    const full = `tokenizer.ggml.${key}`;
    const parsed = schema.safeParse(this.#metadata.get(full)?.value);
    if (parsed.success) return parsed.data;
    throw this.refusal(`"${full}" is ${this.#metadata.has(full) ? 'not what it should be' : 'missing'}`);
  }

  refusal(why: string): TabwrightError {
    const message = `${this.#name}: no tokenizer can be made from this GGUF file: ${why}. Take the model's Hugging Face folder instead.`;
    return new TabwrightError('config', message, {
      code: 'gguf-tokenizer-not-supported',
      details: { tokenizer: this.#name },
    });
  }
}
