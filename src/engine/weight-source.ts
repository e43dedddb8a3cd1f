// Where pretrained weights come from, as the engine sees it: tensors by their Hugging Face names, as 32-bit floats.
// How they lie in files (safetensors shards, GGUF blocks) is the reader's business, `formats/`; which of them a model
// needs, and in which shape, is `pretrained.ts`.

export type WeightSource = {
  /** The file or folder, for messages. */
  readonly origin: string;
  /**
   * What the model is, in the spelling of Hugging Face's `config.json` (`model_type`, `hidden_size`, ...). Readers of
   * other formats translate their metadata to it.
   */
  readonly config: unknown;
  /** Every tensor that is there, by Hugging Face name. A tied output head is simply absent. */
  readonly names: readonly string[];
  /** Outermost first. Fails for a name that is not there. */
  shapeOf(name: string): readonly number[];
  /**
   * One tensor, row after row, rows of q and k in the order that the halves layout of rotary positions wants. New
   * storage, which becomes the caller's.
   */
  read(name: string, options?: { readonly signal?: AbortSignal }): Promise<Float32Array>;
  /** Releases files. */
  close(): Promise<void>;
};
