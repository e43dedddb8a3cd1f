// Old files are upgraded step by step, newer and foreign ones refused.

import { expect, test } from 'vitest';
import { z } from 'zod';
import { currentVersion, readVersioned, stamp, type VersionedFormat } from './versioned.ts';

// A format that renamed a key in version 2 and changed a unit in version 3.
const format: VersionedFormat<{ readonly durationMs: number }> = {
  name: 'example',
  upgraders: [
    ({ time, ...rest }) => ({ ...rest, seconds: time ?? null }),
    ({ seconds, ...rest }) => ({ ...rest, durationMs: Number(seconds) * 1000 }),
  ],
  schema: z.strictObject({ durationMs: z.number() }),
};

test('an old file passes through every upgrader after its own version', () => {
  expect(readVersioned(format, { format: 'example', version: 1, time: 2 }, 'f')).toEqual({ durationMs: 2000 });
  expect(readVersioned(format, { format: 'example', version: 2, seconds: 3 }, 'f')).toEqual({ durationMs: 3000 });
  expect(readVersioned(format, { format: 'example', version: 3, durationMs: 4 }, 'f')).toEqual({ durationMs: 4 });
});

test('what is stamped is read back, under the current version', () => {
  const stamped = stamp(format, { durationMs: 5 });
  expect(stamped).toEqual({ format: 'example', version: currentVersion(format), durationMs: 5 });
  expect(currentVersion(format)).toBe(3);
  expect(readVersioned(format, stamped, 'f')).toEqual({ durationMs: 5 });
});

test('a newer version is refused with both numbers and what to do', () => {
  const read = (): unknown => readVersioned(format, { format: 'example', version: 4 }, 'x/y.json');
  expect(read).toThrow(/x\/y\.json has version 4 .* up to version 3\. Update tabwright/);
});

test.each([[{ format: 'other', version: 1 }], [[]], ['text'], [null], [{ version: 1 }]])(
  '%j is refused as another format',
  (value) => {
    expect(() => readVersioned(format, value, 'f')).toThrow(/is not an? example file/);
  },
);

test.each([[0], [1.5], ['1'], [null]])('version %j is refused', (version) => {
  expect(() => readVersioned(format, { format: 'example', version }, 'f')).toThrow(/its version is/);
});

test('a value of the wrong type is refused by name', () => {
  expect(() => readVersioned(format, { format: 'example', version: 3, durationMs: 'x' }, 'f')).toThrow(/durationMs/);
});
