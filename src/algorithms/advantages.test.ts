import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { groupAdvantages, isMixed } from './advantages.ts';

describe('groupAdvantages', () => {
  it('subtracts the mean of the scored members and leaves the others null', () => {
    expect(groupAdvantages([1, 0, null, 0, 1])).toEqual([0.5, -0.5, null, -0.5, 0.5]);
  });

  it('divides by the unbiased deviation: one success in four is worth +1.5', () => {
    const [success, failure] = groupAdvantages([1, 0, 0, 0], { normalise: 'std', epsilon: 0 });
    expect(success).toBeCloseTo(1.5, 12);
    expect(failure).toBeCloseTo(-0.5, 12);
  });

  it('gives a constant group and a single survivor nothing to learn from', () => {
    expect(groupAdvantages([1, 1, null])).toEqual([0, 0, null]);
    expect(groupAdvantages([1, null, null])).toEqual([0, null, null]);
  });

  it('is not changed by invalid members being there', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 2, maxLength: 9 }),
        fc.nat(),
        (rewards, at) => {
          const position = at % (rewards.length + 1);
          const withInvalid = [...rewards.slice(0, position), null, ...rewards.slice(position)];
          expect(groupAdvantages(withInvalid).filter((advantage) => advantage !== null)).toEqual(
            groupAdvantages(rewards),
          );
        },
      ),
    );
  });
});

describe('isMixed', () => {
  it('needs two scored members that did not get the same', () => {
    expect(
      [
        [0, 1],
        [0.5, 0.4, null],
      ].map(isMixed),
    ).toEqual([true, true]);
    expect([[1, 1], [0, null], [null, null], []].map(isMixed)).toEqual([false, false, false, false]);
  });
});
