// Which calls of a sampler run together: sequences of similar length share one padded batch, and of the prompts to be
// sampled from equal ones are read once. Pure functions of the requests.

import type { SampleRequest } from '../core/index.ts';

/** Padded prompt tokens and sequences a batch; larger ones gain nothing on a CPU and cost memory. */
const MAX_PROMPT_TOKENS = 8192;
const MAX_SEQUENCES = 64;
/** Log-probabilities computed at once when given tokens are scored, scored tokens times vocabulary: 32 MB. */
const MAX_SCORES = 2 ** 23;
/** Padded lengths are multiples of this, so that a sequence is computed alike whatever shares its batch. */
const LENGTH_STEP = 16;

export type Cohort = {
  /** Positions of its requests in the caller's array. */
  readonly requests: readonly number[];
  /** Distinct prompts. */
  readonly prompts: readonly (readonly number[])[];
  /** For each of `requests`, the position of its prompt in `prompts`. */
  readonly promptOf: readonly number[];
  /** Padded length; 0 where lengths differ. */
  readonly time: number;
};

/** Distributes requests over batches; every request is in exactly one. A request that exceeds the limits goes alone. */
export function planCohorts(requests: readonly SampleRequest[]): Cohort[] {
  const padded = (i: number): number => paddedLength(requests[i].prompt);
  const order = requests.map((_, i) => i).sort((a, b) => padded(a) - padded(b) || a - b);
  const cohorts: (Omit<Cohort, 'requests' | 'prompts' | 'promptOf'> & {
    requests: number[];
    prompts: (readonly number[])[];
    promptOf: number[];
    known: Map<string, number>;
    sequences: number;
  })[] = [];
  for (const i of order) {
    const { prompt, numSamples } = requests[i];
    const key = prompt.join();
    const time = padded(i);
    let cohort = cohorts.at(-1);
    const fits =
      cohort !== undefined &&
      cohort.time === time &&
      cohort.sequences + numSamples <= MAX_SEQUENCES &&
      (cohort.known.has(key) || (cohort.prompts.length + 1) * time <= MAX_PROMPT_TOKENS);
    if (!cohort || !fits) {
      cohort = { requests: [], prompts: [], promptOf: [], time, known: new Map(), sequences: 0 };
      cohorts.push(cohort);
    }
    if (!cohort.known.has(key)) {
      cohort.known.set(key, cohort.prompts.length);
      cohort.prompts.push(prompt);
    }
    cohort.requests.push(i);
    cohort.promptOf.push(cohort.known.get(key)!);
    cohort.sequences += numSamples;
  }
  return cohorts;
}

/** As `planCohorts`, where sequences of any length share a batch: in the order of the requests, up to the limit. */
export function planMixed(requests: readonly SampleRequest[]): Cohort[] {
  const cohorts: Cohort[] = [];
  let open = emptyCohort();
  let sequences = Infinity;
  requests.forEach(({ prompt, numSamples }, i) => {
    if (sequences + numSamples > MAX_SEQUENCES) {
      open = emptyCohort();
      sequences = 0;
      cohorts.push({ requests: open.requests, prompts: open.prompts, promptOf: open.promptOf, time: 0 });
    }
    const key = prompt.join();
    if (!open.known.has(key)) {
      open.known.set(key, open.prompts.length);
      open.prompts.push(prompt);
    }
    open.requests.push(i);
    open.promptOf.push(open.known.get(key)!);
    sequences += numSamples;
  });
  return cohorts;
}

function emptyCohort(): {
  readonly requests: number[];
  readonly known: Map<string, number>;
  readonly prompts: (readonly number[])[];
  readonly promptOf: number[];
} {
  return { requests: [], known: new Map(), prompts: [], promptOf: [] };
}

export type ScoringBatch = {
  /** Positions of its sequences in the caller's array. */
  readonly requests: readonly number[];
  /** Padded length. */
  readonly time: number;
};

/** Distributes sequences to be scored over batches; one that exceeds the limits goes alone. */
export function planScoring(sequences: readonly (readonly number[])[], vocabSize: number): ScoringBatch[] {
  const padded = (i: number): number => paddedLength(sequences[i]);
  const order = sequences.map((_, i) => i).sort((a, b) => padded(a) - padded(b) || a - b);
  const limit = Math.min(MAX_PROMPT_TOKENS, MAX_SCORES / vocabSize);
  const batches: { requests: number[]; time: number }[] = [];
  for (const i of order) {
    const batch = batches.at(-1);
    const time = padded(i);
    if (batch?.time === time && (batch.requests.length + 1) * time <= limit) batch.requests.push(i);
    else batches.push({ requests: [i], time });
  }
  return batches;
}

function paddedLength(sequence: readonly number[]): number {
  return Math.ceil(sequence.length / LENGTH_STEP) * LENGTH_STEP;
}
