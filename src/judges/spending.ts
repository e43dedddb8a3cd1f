// What judging costs, in calls, tokens and dollars. A price is the endpoint's own or was given; none is known by heart,
// so a cost that nobody has told is null, and so is every sum with it.

export type JudgeSpending = {
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Calls whose tokens the endpoint did not tell: the counts above are too low where there are any. */
  readonly uncountedCalls: number;
  /** US dollars; null where it is not known of every call. */
  readonly cost: number | null;
};

/** US dollars for a million tokens. */
export type JudgePrices = { readonly prompt: number; readonly completion: number };

export const NOTHING_SPENT: JudgeSpending = {
  calls: 0,
  promptTokens: 0,
  completionTokens: 0,
  uncountedCalls: 0,
  cost: 0,
};

export function addSpending(a: JudgeSpending, b: JudgeSpending): JudgeSpending {
  return {
    calls: a.calls + b.calls,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    uncountedCalls: a.uncountedCalls + b.uncountedCalls,
    cost: a.cost === null || b.cost === null ? null : a.cost + b.cost,
  };
}

export type CallFacts = {
  readonly usage: { readonly promptTokens: number; readonly completionTokens: number } | undefined;
  /** What the endpoint charged, where it says so. */
  readonly cost?: number;
};

/** One call; what the endpoint charged goes before what the prices say. */
export function callSpending({ usage, cost }: CallFacts, prices: JudgePrices | undefined): JudgeSpending {
  if (usage === undefined) return { ...NOTHING_SPENT, calls: 1, uncountedCalls: 1, cost: cost ?? null };
  const { promptTokens, completionTokens } = usage;
  const priced =
    prices === undefined ? null : (promptTokens * prices.prompt + completionTokens * prices.completion) / 1e6;
  return { calls: 1, promptTokens, completionTokens, uncountedCalls: 0, cost: cost ?? priced };
}
