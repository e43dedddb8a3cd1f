// The reply that ends in a verdict: thoughts, what is not met, success or failure or blocked, in this order; and whether
// it agrees with itself. A reply that does not is no verdict.

import { z } from 'zod';
import type { JsonObject } from '../core/index.ts';
import { judgeFault } from './fault.ts';

export const verdictReply = z.strictObject({
  reasoning: z.string(),
  unmet: z.array(z.string()),
  verdict: z.enum(['success', 'failure', 'blocked']),
});

export type VerdictReply = z.output<typeof verdictReply>;

export type ReadVerdict = {
  readonly verdict: 'success' | 'failure';
  readonly reasoning: string;
  readonly unmet: readonly string[];
};

export function readVerdict({ reasoning, unmet, verdict }: VerdictReply): ReadVerdict {
  checkReasoning(reasoning);
  const details: JsonObject = { reasoning: reasoning.slice(0, 2_000), unmet, verdict };
  if (verdict === 'blocked') {
    throw judgeFault(
      'judge-blocked',
      `The judge says that the website made the task impossible: ${reasoning.slice(0, 500)}`,
      details,
    );
  }
  if ((verdict === 'success') !== (unmet.length === 0)) {
    throw judgeFault(
      'judge-contradiction',
      `The judge says ${verdict} and names ${unmet.length} things that are not met.`,
      details,
    );
  }
  return { verdict, reasoning, unmet };
}

export function checkReasoning(reasoning: string): void {
  if (reasoning.trim() === '') throw judgeFault('judge-bad-reply', 'The judge decided without giving a reason.');
}
