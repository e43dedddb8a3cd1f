import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeValue, encodeValue, isFunctionSource, type WireValue } from './wire-values.ts';

const there = (value: unknown): unknown => decodeValue(JSON.parse(JSON.stringify(encodeValue(value))) as WireValue);

test.each([undefined, null, true, '', 0, -0, 1.5, NaN, Infinity, -Infinity, 12n, -(2n ** 80n)])(
  '%s comes across',
  (value) => {
    expect(there(value)).toBe(value);
    expect(there({ a: [value] })).toEqual({ a: [value] });
  },
);

test('any JSON comes across, also when it looks like a tag', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => void expect(there(value)).toEqual(value)));
  for (const value of [{ $bytes: 'AA==' }, { $undefined: true }, { $object: { $number: 'NaN' } }, { $: 1 }]) {
    expect(there(value)).toEqual(value);
  }
});

test('bytes come across as buffers, functions as their source, of any realm', () => {
  const foreign = runInNewContext(
    '({ list: [1], view: new Uint8Array([1, 2]), buffer: new Uint8Array([3]).buffer, call: (a) => a + 1 })',
  ) as unknown;
  const value = there(foreign) as Record<string, unknown>;
  expect(value.list).toEqual([1]);
  expect([value.view, value.buffer]).toEqual([Buffer.from([1, 2]), Buffer.from([3])]);
  expect(value.call).toEqual({ source: '(a) => a + 1' });
  expect(isFunctionSource(value.call)).toBe(true);
  expect(isFunctionSource(there({ source: 'x' }))).toBe(false);
});

test('a key called __proto__ stays a key', () => {
  const value = there(JSON.parse('{"__proto__": {"polluted": true}}')) as object;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test('what has no notation throws', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  for (const value of [cycle, Symbol('x'), new Date(), new Map(), new (class Thing {})()]) {
    expect(() => encodeValue({ value })).toThrow(TypeError);
  }
});

test('a malformed tag throws', () => {
  for (const wire of [{ $number: '12' }, { $bigint: 'x' }, { $function: 1 }, { $other: 1 }, { $object: [] }]) {
    expect(() => decodeValue(wire)).toThrow('is not a tag that values have');
  }
});
