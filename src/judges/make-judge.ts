// What all judges of episodes share: a name that changes with whatever changes their verdicts, one deadline for a
// judgement, and that everything which goes wrong with model or endpoint is `invalid`.

import { TabwrightError, type JsonObject } from '../core/index.ts';
import { linkedController, withDeadline } from '../util/index.ts';
import { judgeFault } from './fault.ts';
import type { Judge, JudgeInput, JudgeKind, Judgement } from './judge.ts';
import type { AskOptions, JudgeModel } from './judge-model.ts';
import { hashOf, readPrompt, sha256, type Question } from './prompts.ts';
import { addSpending, NOTHING_SPENT, type JudgeSpending } from './spending.ts';

export type Decided = {
  readonly verdict: 'success' | 'failure';
  readonly reasoning: string;
  readonly details: JsonObject;
};

export type MakeJudgeOptions = {
  readonly kind: JudgeKind;
  readonly model: JudgeModel;
  readonly questions: readonly Question<unknown>[];
  /** What verdicts depend on beside prompts and model. */
  readonly settings: JsonObject;
  readonly deadlineMs: number;
  readonly decide: (input: JudgeInput, options: AskOptions) => Promise<Decided>;
};

export function makeJudge({ kind, model, questions, settings, deadlineMs, decide }: MakeJudgeOptions): Judge {
  const promptHash = promptHashOf(questions);
  let total = NOTHING_SPENT;
  return {
    kind,
    id: `${kind}/${model.name}/${hashOf([promptHash, settings, model.settings]).slice(0, 12)}`,
    promptHash,
    model: model.name,
    deadlineMs,
    spent: () => total,
    async judge(input, { signal }) {
      const judgement = await settle({ deadlineMs, signal, decide: (options) => decide(input, options) });
      total = addSpending(total, judgement.spending);
      const { criteria } = input;
      if (criteria === undefined) return judgement;
      // Those of the prompts are named by the prompts' hash; others are named here.
      return { ...judgement, details: { ...judgement.details, criteria: { sha256: sha256(criteria) } } };
    },
  };
}

export function promptHashOf(questions: readonly Question<unknown>[]): string {
  return hashOf([
    readPrompt('rules'),
    readPrompt('criteria'),
    ...questions.map(({ prompt, schema }) => [prompt, schema]).flat(),
  ]);
}

export type SettleOptions = {
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly decide: (options: AskOptions) => Promise<Decided>;
};

/** Rejects with what is no judge's failure: aborts, wrong configuration, faults of ours. */
export async function settle({ deadlineMs, signal, decide }: SettleOptions): Promise<Judgement> {
  let spending: JudgeSpending = NOTHING_SPENT;
  const spend = (call: JudgeSpending): void => {
    spending = addSpending(spending, call);
  };
  const onExpiry = (): Error => judgeFault('judge-timeout', `The judge did not decide within ${deadlineMs} ms.`);
  try {
    const decided = await withDeadline({ ms: deadlineMs, signal, onExpiry }, (inner) =>
      decide({ signal: inner, spend }),
    );
    return { ...decided, spending, cached: false };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TabwrightError) || (error.boundary !== 'judge' && error.boundary !== 'backend')) throw error;
    const { code, message, details } = error;
    return { verdict: 'invalid', code, reason: message, details, spending, cached: false };
  }
}

/** The results in order. The first failure ends the others, and what they have cost by then is counted. */
export async function askAll<T>(
  asks: readonly ((signal: AbortSignal) => Promise<T>)[],
  signal: AbortSignal,
): Promise<readonly T[]> {
  const { controller, unlink } = linkedController(signal);
  try {
    const settled = await Promise.allSettled(
      asks.map((ask) =>
        ask(controller.signal).catch((error: unknown) => {
          controller.abort(error);
          throw error;
        }),
      ),
    );
    // The others fail with the reason of the first.
    if (controller.signal.aborted) throw controller.signal.reason;
    return settled.map((one) => (one as PromiseFulfilledResult<T>).value);
  } finally {
    unlink();
  }
}
