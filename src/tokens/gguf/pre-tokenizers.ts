// What the names in `tokenizer.ggml.pre` stand for, in the spelling of a tokenizer.json. A name decides where text is
// cut before merges apply, so one that is not here is refused and never guessed. Sources: the published tokenizer.json
// of each family; llama.cpp's llama-vocab.cpp for the names.

export type PreTokenizer = {
  /** Every name that files use for it; the first is written. */
  readonly names: readonly string[];
  readonly preTokenizer: Readonly<Record<string, unknown>>;
  readonly normalizer: Readonly<Record<string, unknown>> | null;
  /** Whether a piece that is a token as a whole stays one, whatever the merges would do. */
  readonly ignoreMerges: boolean;
};

const byteLevel = (useRegex: boolean): Readonly<Record<string, unknown>> => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: useRegex,
});

const splitBy = (regex: string): Readonly<Record<string, unknown>> => ({
  type: 'Sequence',
  pretokenizers: [{ type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false }, byteLevel(false)],
});

/** Qwen's and Llama 3's cuts differ in how many digits stay together. */
const cuts = (digits: string): string =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

export const PRE_TOKENIZERS: readonly PreTokenizer[] = [
  {
    names: ['smollm'],
    preTokenizer: {
      type: 'Sequence',
      pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel(true)],
    },
    normalizer: null,
    ignoreMerges: false,
  },
  { names: ['gpt-2'], preTokenizer: byteLevel(true), normalizer: null, ignoreMerges: false },
  {
    names: ['qwen2', 'deepseek-r1-qwen'],
    preTokenizer: splitBy(cuts('\\p{N}')),
    // The authors' tokenizer composes characters first; llama.cpp does not, and differs on decomposed text.
    normalizer: { type: 'NFC' },
    ignoreMerges: false,
  },
  {
    names: ['llama-bpe', 'llama3', 'llama-v3'],
    preTokenizer: splitBy(cuts('\\p{N}{1,3}')),
    normalizer: null,
    ignoreMerges: true,
  },
];
