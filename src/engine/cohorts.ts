// Which sequences are read together: those of similar length share one padded batch. Pure functions of the sequences.

/** Padded tokens a batch; larger ones gain nothing on a CPU and cost memory. */
const MAX_TOKENS = 8192;
/** Log-probabilities computed at once when given tokens are scored, scored tokens times vocabulary: 32 MB. */
const MAX_SCORES = 2 ** 23;
/** Padded lengths are multiples of this, so that a sequence is computed alike whatever shares its batch. */
const LENGTH_STEP = 16;

export type ScoringBatch = {
  /** Positions of its sequences in the caller's array. */
  readonly requests: readonly number[];
  /** Padded length. */
  readonly time: number;
};

/** Distributes sequences over batches; every one is in exactly one. One that exceeds the limit goes alone. */
export function planReading(sequences: readonly (readonly number[])[], limit = MAX_TOKENS): ScoringBatch[] {
  const padded = (i: number): number => Math.ceil(sequences[i].length / LENGTH_STEP) * LENGTH_STEP;
  const order = sequences.map((_, i) => i).sort((a, b) => padded(a) - padded(b) || a - b);
  const batches: { requests: number[]; time: number }[] = [];
  for (const i of order) {
    const batch = batches.at(-1);
    const time = padded(i);
    if (batch?.time === time && (batch.requests.length + 1) * time <= limit) batch.requests.push(i);
    else batches.push({ requests: [i], time });
  }
  return batches;
}

/** The same for sequences each of whose tokens gets a score over the vocabulary. */
export function planScoring(sequences: readonly (readonly number[])[], vocabSize: number): ScoringBatch[] {
  return planReading(sequences, Math.min(MAX_TOKENS, MAX_SCORES / vocabSize));
}
