import { describe, expect, it } from 'vitest';
import { urlProblem, type UrlRule } from './final-url.ts';

const matches = (final: string, references: readonly string[], rule: UrlRule = 'contained'): boolean =>
  urlProblem(final, references, rule) === undefined;
const SITE = 'http://shop.test:7770';

describe('contained', () => {
  it.each([
    [`${SITE}/cart`, `${SITE}/cart`],
    [`${SITE}/cart/`, `${SITE}/cart`],
    [`${SITE}/cart`, `${SITE}/cart/`],
    [`${SITE}/cart/checkout`, `${SITE}/cart`],
    [`${SITE}/`, SITE],
    [`${SITE}/list?q=shoe&sort=price&page=2`, `${SITE}/list?q=shoe&sort=price`],
    [`${SITE}/list?sort=price&q=shoe`, `${SITE}/list?q=shoe&sort=price`],
    [`${SITE}/a%20b`, `${SITE}/a b`],
    [`${SITE}/cart#top`, `${SITE}/cart`],
    [`https://shop.test:7770/cart`, `${SITE}/cart`],
  ])('%s is at %s', (final, reference) => expect(matches(final, [reference])).toBe(true));

  it.each([
    [`${SITE}/cartoons`, `${SITE}/cart`, 'a path that begins with the same letters'],
    [`${SITE}/`, `${SITE}/cart`, 'the page above it'],
    [`http://evil.test/r/shop.test:7770/cart`, `${SITE}/cart`, 'another host with the address in its path'],
    [`http://evil.test/?to=${SITE}/cart`, `${SITE}/cart`, 'another host with the address in a parameter'],
    [`http://shop.test:7770.evil.test/cart`, `${SITE}/cart`, 'a host that begins with the same letters'],
    [`http://shop.test/cart`, `${SITE}/cart`, 'another port'],
    [`${SITE}/list`, `${SITE}/list?q=shoe`, 'without the parameter'],
    [`${SITE}/list?q=shoes`, `${SITE}/list?q=shoe`, 'another value of it'],
    ['about:blank', `${SITE}/cart`, 'no page'],
    ['', `${SITE}/cart`, 'no address'],
  ])('%s is not at %s: %s', (final, reference) => expect(matches(final, [reference])).toBe(false));

  it('alternatives do not add up', () => {
    const references = [`${SITE}/a?x=1`, `${SITE}/b?x=2`];
    expect(matches(`${SITE}/b?x=2`, references)).toBe(true);
    expect(matches(`${SITE}/a?x=2`, references)).toBe(false);
  });

  it('several values of one parameter are each right', () => {
    expect(matches(`${SITE}/a?x=2`, [`${SITE}/a?x=1&x=2`])).toBe(true);
    expect(matches(`${SITE}/a?x=3`, [`${SITE}/a?x=1&x=2`])).toBe(false);
  });
});

it('exact: the same address and no page below it', () => {
  expect(matches(`${SITE}/cart/`, [`${SITE}/cart`], 'exact')).toBe(true);
  expect(matches(`${SITE}/cart/checkout`, [`${SITE}/cart`], 'exact')).toBe(false);
  expect(matches(`${SITE}/cart?x=1`, [`${SITE}/cart`], 'exact')).toBe(false);
  expect(matches(`${SITE}/cart?x=1`, [`${SITE}/other`, `${SITE}/cart?x=1`], 'exact')).toBe(true);
});

it('no reference is met by nothing', () => expect(matches(SITE, [])).toBe(false));
