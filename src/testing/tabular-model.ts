// A language model that is a table: one row of logits for each context, where the context is the last few tokens.
// Rows are learned differences to fixed base logits, so a row that was never touched costs nothing, and weight
// decay pulls towards the base as it does for LoRA. Knows nothing of losses or optimisers.

export type TabularModelOptions = {
  readonly vocabularySize: number;
  /** Tokens of context that pick the row. */
  readonly window: number;
  /** Logits before any training. Pure. */
  readonly baseLogits: (context: readonly number[]) => readonly number[];
};

/** Learned differences by context key; `at` makes the row when there is none. */
export type Table = Map<string, Float64Array>;

/** Untempered log-probabilities of the token that follows the context of a key, nats. */
export type LogProbabilities = (key: string) => Float64Array;

export interface TabularModel {
  /** Key of the row that predicts what follows `tokens`. */
  key(tokens: readonly number[]): string;
  /** The model with the weights of `table`, for as long as nobody changes them: every row is computed once. */
  freeze(table: Table): LogProbabilities;
}

export function createTabularModel({ vocabularySize, window, baseLogits }: TabularModelOptions): TabularModel {
  const compute = (table: Table, key: string): Float64Array => {
    const base = baseLogits(key === '' ? [] : key.split(',').map(Number));
    if (base.length !== vocabularySize) {
      throw new RangeError(`baseLogits gave ${base.length} logits for ${vocabularySize} tokens`);
    }
    const learned = table.get(key);
    return logSoftmax(base.map((logit, token) => logit + (learned?.[token] ?? 0)));
  };
  return {
    key: (tokens) => tokens.slice(-window).join(','),
    freeze(table) {
      const known = new Map<string, Float64Array>();
      return (key) => {
        let row = known.get(key);
        if (row === undefined) known.set(key, (row = compute(table, key)));
        return row;
      };
    },
  };
}

export function cloneTable(table: Table): Table {
  return new Map([...table].map(([key, row]) => [key, row.slice()]));
}

export function logSoftmax(logits: readonly number[]): Float64Array {
  let largest = -Infinity;
  for (const logit of logits) largest = Math.max(largest, logit);
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - largest);
  return Float64Array.from(logits, (logit) => logit - largest - Math.log(sum));
}
