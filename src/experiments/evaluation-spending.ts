// What an episode took: tokens of the model that played, what they cost, and what judging it cost. Pure; what nobody has
// counted is null.

import { isJsonObject, type AnyTrajectory, type JsonObject } from '../core/index.ts';

/** US dollars for a million tokens. */
export type Prices = { readonly prompt: number; readonly completion: number };

type Spending = {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cost: number | null;
};

/** What the endpoint charged goes before what the prices say. */
export function readSpending({ turns }: AnyTrajectory, prices: Prices | undefined): Spending {
  let promptTokens = 0;
  let completionTokens = 0;
  let charged: number | undefined = 0;
  for (const turn of turns) {
    if ('promptTokens' in turn) {
      promptTokens += turn.promptTokens.length;
      completionTokens += turn.actionTokens.length;
      charged = undefined;
      continue;
    }
    if (turn.usage === undefined) return { promptTokens: null, completionTokens: null, cost: null };
    promptTokens += turn.usage.promptTokens;
    completionTokens += turn.usage.completionTokens;
    charged = charged === undefined || turn.cost === undefined ? undefined : charged + turn.cost;
  }
  const priced =
    prices === undefined ? null : (promptTokens * prices.prompt + completionTokens * prices.completion) / 1e6;
  return { promptTokens, completionTokens, cost: turns.length > 0 && charged !== undefined ? charged : priced };
}

type JudgeSpending = {
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: number | null;
};

/** By what judges leave in the details of an outcome; an episode that none could judge leaves nothing. */
export function readJudgeSpending(trajectories: readonly AnyTrajectory[]): JudgeSpending {
  let total: JudgeSpending = { calls: 0, promptTokens: 0, completionTokens: 0, cost: 0 };
  for (const { outcome } of trajectories) {
    const judge = outcome.kind === 'finished' ? outcome.details.judge : undefined;
    if (judge === undefined || !isJsonObject(judge)) continue;
    const { cost } = judge;
    total = {
      calls: total.calls + countOf(judge, 'calls'),
      promptTokens: total.promptTokens + countOf(judge, 'promptTokens'),
      completionTokens: total.completionTokens + countOf(judge, 'completionTokens'),
      cost: total.cost === null || typeof cost !== 'number' ? null : total.cost + cost,
    };
  }
  return total;
}

function countOf(judge: JsonObject, name: string): number {
  const value = judge[name];
  return typeof value === 'number' ? value : 0;
}
