// One small episode for each class and for each rule of precedence.

import { describe, expect, test } from 'vitest';
import { classifyFailure, type FailureClass } from './failure-classes.ts';
import { playEpisode, type EpisodePlan } from './fixtures/episodes.ts';

type Steps = EpisodePlan['steps'];

// Boxes 0 and 1 are wanted, box 2 is not.
const play = (steps: Steps): ReturnType<typeof playEpisode> => playEpisode({ wanted: [true, true, false], steps });

describe('classifyFailure', () => {
  test.each<[string, Steps, FailureClass, number]>([
    ['nothing clicked', ['submit'], 'premature-submit', 2],
    ['one of two clicked', [0, 'submit'], 'premature-submit', 1],
    ['a malformed call, then a hasty submit', ['malformed', 0, 'submit'], 'premature-submit', 1],
    ['a wanted box switched on and off', [0, 1, 0, 'submit'], 'repeated-click', 1],
    ['a wanted box on, off and on, another never touched', [0, 0, 0, 'submit'], 'premature-submit', 1],
    ['an unwanted box on', [0, 1, 2, 'submit'], 'wrong-box', 0],
    ['an unwanted box on and wanted ones missing', [2, 'submit'], 'wrong-box', 2],
    ['an unwanted box on and a wanted one switched off again', [0, 0, 2, 'submit'], 'wrong-box', 2],
    ['an unwanted box on and off, a wanted one missing', [2, 2, 0, 'submit'], 'premature-submit', 1],
  ])('submitted, %s', (_name, steps, expected, missing) => {
    expect(classifyFailure(play(steps))).toEqual({ class: expected, missing });
  });

  test.each<[string, Steps, FailureClass]>([
    ['every action on something else', [0, 1, 'none'], 'budget-exhausted'],
    ['mostly the same box', [0, 0, 0, 'malformed'], 'repeated-click'],
    ['mostly unreadable calls', ['malformed', 'malformed', 0, 0], 'malformed-call'],
    ['mostly calls answered with an error', ['error', 'error', 0, 0], 'malformed-call'],
    ['as many repeated clicks as unreadable calls', [0, 0, 'malformed'], 'malformed-call'],
  ])('out of actions, %s', (_name, steps, expected) => {
    expect(classifyFailure(play(steps))?.class).toBe(expected);
  });

  test('a success has no class', () => expect(classifyFailure(play([0, 1, 'submit']))).toBeUndefined());

  test('an invalid episode has no class: it is no failure of the policy', () => {
    const outcome = { kind: 'invalid', boundary: 'browser', code: 'crashed', message: 'gone' } as const;
    expect(classifyFailure({ ...play(['submit']), outcome })).toBeUndefined();
  });

  test('a verifier that contradicts itself is reported, not classed', () => {
    const details = { wanted: 2, missing: 0, extra: 0 };
    const outcome = { kind: 'finished', success: false, reward: 1, stop: 'submitted', details } as const;
    expect(() => classifyFailure({ ...play(['submit']), outcome })).toThrow(/contradicts itself/);
  });

  test('the outcome of another environment is refused', () => {
    const outcome = { kind: 'finished', success: false, reward: 0, stop: 'submitted', details: { score: 3 } } as const;
    expect(() => classifyFailure({ ...play(['submit']), outcome })).toThrow(/not one of click-checkboxes: wanted/);
  });
});
