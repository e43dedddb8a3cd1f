// The verdict on an episode: the answer, and the state of its instance on the server. The page is never asked.

import { asJson, type JsonObject } from '../../../core/index.ts';
import type { Verdict } from '../../web-task/index.ts';
import { answerIs, expectedText } from './answers.ts';
import { compareStates } from './state-difference.ts';
import type { Made } from './template.ts';

/** Most that an episode without success is worth. */
const PARTIAL = 0.5;

export type Judged = {
  /** As the task began. */
  readonly made: Made<JsonObject>;
  /** As the episode left it. */
  readonly after: JsonObject;
  readonly answer: string | undefined;
};

/**
 * Success is exact. The reward is 1 for it; else half the share of what had to be done and is, and 0 as soon as
 * anything changed that was not to.
 */
export function judgeTask({ made, after, answer }: Judged): Verdict {
  const { state: before, goal, free, answer: question, instruction } = made;
  const expected = structuredClone(before);
  goal?.(expected);
  const { wanted, missing, unasked } = compareStates({
    before,
    after,
    expected,
    ...(free === undefined ? {} : { free }),
  });
  const answered = question === undefined ? undefined : answerIs(question, answer, instruction);
  const parts = [
    ...(wanted.length === 0 ? [] : [1 - missing.length / wanted.length]),
    ...(answered === undefined ? [] : [Number(answered)]),
  ];
  const success = missing.length === 0 && unasked.length === 0 && answered !== false;
  const share = parts.reduce((sum, part) => sum + part, 0) / parts.length;
  return {
    success,
    reward: success ? 1 : unasked.length > 0 ? 0 : PARTIAL * share,
    details: asJson({
      missing,
      unasked,
      ...(question === undefined ? {} : { answered, expected: expectedText(question), given: answer ?? null }),
    }),
  };
}
