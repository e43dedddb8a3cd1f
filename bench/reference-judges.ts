// Judges that need no model: what an episode says of itself. A judge is worth what it is better than these, on the same
// episodes; each is fooled by construction by something that the set holds.

import type { JudgeInput } from '../src/judges/index.ts';

export type ReferenceJudge = {
  readonly name: string;
  readonly goesBy: string;
  readonly says: (input: JudgeInput) => boolean;
};

/** Words with which an agent says that it did not get there. */
const GIVES_UP =
  /\b(?:could ?n[o']t|can ?not|can't|did ?n[o']t|unable|fail(?:ed|ure)?|impossible|not (?:possible|found|done|able)|n\/a|sorry)\b/i;

function claims({ stop, answer = '' }: JudgeInput): boolean {
  return stop === 'answered' && answer.trim() !== '' && !GIVES_UP.test(answer);
}

export const REFERENCE_JUDGES: readonly ReferenceJudge[] = [
  { name: 'always', goesBy: 'nothing: every episode is a success', says: () => true },
  {
    name: 'claims',
    goesBy: "the agent's answer: a success unless there is none, or it says that it did not get there",
    says: claims,
  },
  {
    name: 'acts and claims',
    goesBy: "as `claims`, and by the host's log something was done to the browser",
    says: (input) => claims(input) && (input.actions ?? []).length > 0,
  },
];
