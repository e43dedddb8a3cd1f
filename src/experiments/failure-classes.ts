// Why an episode of click-checkboxes failed: one class each, so that classes add up to the failures. It reads what
// the environment recorded (`Turn.info`, `FinishedOutcome.details`) and looks at no page.
//
// What ended the episode decides first:
// - Submitted with a box on that was not wanted: `wrong-box`, whatever else is missing.
// - Submitted with wanted boxes missing and none extra: `repeated-click` when one of them had been switched on and
//   then off again, else `premature-submit`.
// - Out of actions: the kind of action that wasted most of them, `malformed-call` (not readable, or answered with an
//   error) or `repeated-click`, the former on a tie; `budget-exhausted` when there was neither.

import { z } from 'zod';
import { TabwrightError, type FinishedOutcome, type Trajectory, type Turn } from '../core/index.ts';

export const FAILURE_CLASSES = [
  'premature-submit',
  'repeated-click',
  'wrong-box',
  'malformed-call',
  'budget-exhausted',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

export type Failure = {
  readonly class: FailureClass;
  /** Wanted boxes that were off at the end. */
  readonly missing: number;
};

const detailsSchema = z.object({
  wanted: z.int().nonnegative(),
  missing: z.int().nonnegative(),
  extra: z.int().nonnegative(),
});

/** What is needed of what the verifier of click-checkboxes saw at the end: boxes by their number. */
export type CheckboxDetails = z.infer<typeof detailsSchema>;

export function checkboxDetails(outcome: FinishedOutcome): CheckboxDetails {
  const result = detailsSchema.safeParse(outcome.details);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new TabwrightError(
    'env',
    `The outcome is not one of click-checkboxes: ${issue.path.join('.')}: ${issue.message}. Only its episodes can be classed.`,
    { code: 'foreign-outcome', details: { details: outcome.details } },
  );
}

/** The class of a failed episode; undefined for a success and for an invalid episode, which are no failures. */
export function classifyFailure({ outcome, turns }: Trajectory): Failure | undefined {
  if (outcome.kind === 'invalid' || outcome.success) return undefined;
  const { missing, extra } = checkboxDetails(outcome);
  const failure = (name: FailureClass): Failure => ({ class: name, missing });
  if (outcome.stop === 'max_actions') return failure(classOfWaste(turns));
  if (extra > 0) return failure('wrong-box');
  if (missing > 0) return failure(switchedOffAgain(turns) ? 'repeated-click' : 'premature-submit');
  throw new TabwrightError(
    'env',
    'An episode was submitted with every box right and counted as a failure: the verifier contradicts itself.',
    {
      code: 'inconsistent-outcome',
      details: { details: outcome.details },
    },
  );
}

function classOfWaste(turns: readonly Turn[]): FailureClass {
  const malformed = turns.filter((turn) => turn.action.kind === 'malformed' || turn.info.effect === 'error').length;
  const repeated = countRepeatedClicks(turns);
  if (malformed === 0 && repeated === 0) return 'budget-exhausted';
  return malformed >= repeated ? 'malformed-call' : 'repeated-click';
}

/** Clicks on a control that had been clicked before in the episode. */
export function countRepeatedClicks(turns: readonly Turn[]): number {
  const clicked = turns
    .filter((turn) => turn.info.effect !== 'error' && isTarget(turn.info.target))
    .map((turn) => turn.info.target);
  return clicked.length - new Set(clicked).size;
}

/** Whether the last click on some wanted box switched it off. */
function switchedOffAgain(turns: readonly Turn[]): boolean {
  const lastEffect = new Map(
    turns.filter((turn) => turn.info.wanted === true).map((turn) => [turn.info.target, turn.info.effect]),
  );
  return [...lastEffect.values()].includes('toggled-off');
}

function isTarget(target: unknown): boolean {
  return typeof target === 'number' || typeof target === 'string';
}
