// Which sampling requests run together: prompts of similar length share one padded batch, equal prompts are read
// once. A pure function of the requests.

import type { SampleRequest } from '../core/index.ts';

/** Padded prompt tokens and sequences a batch; larger ones gain nothing on a CPU and cost memory. */
const MAX_PROMPT_TOKENS = 8192;
const MAX_SEQUENCES = 64;
/** Padded lengths are multiples of this, so that a sequence is computed alike whatever shares its batch. */
const LENGTH_STEP = 16;

export type Cohort = {
  /** Positions of its requests in the caller's array. */
  readonly requests: readonly number[];
  /** Distinct prompts. */
  readonly prompts: readonly (readonly number[])[];
  /** For each of `requests`, the position of its prompt in `prompts`. */
  readonly promptOf: readonly number[];
  /** Padded length. */
  readonly time: number;
};

/** Distributes requests over batches; every request is in exactly one. A request that exceeds the limits goes alone. */
export function planCohorts(requests: readonly SampleRequest[]): Cohort[] {
  const padded = (i: number): number => Math.ceil(requests[i].prompt.length / LENGTH_STEP) * LENGTH_STEP;
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
