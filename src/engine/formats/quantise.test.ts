// Every type that is written, against PyPI's `gguf`, to the bit; the fixture is written by conformance/models.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { bytesOf, quantise } from './quantise.ts';

const FIXTURE = fileURLToPath(new URL('../../../tests/models/fixtures/quantisers.json', import.meta.url));
type Fixture = { readonly values: string; readonly cases: { readonly type: 'F32' | 'F16' | 'Q8_0'; bytes: string }[] };
const { values, cases } = JSON.parse(await readFile(FIXTURE, 'utf8')) as Fixture;
const given = new Float32Array(Uint8Array.from(Buffer.from(values, 'base64')).buffer);

it.each(cases)('gives the bytes of the reference for $type', ({ type, bytes }) => {
  const expected = Buffer.from(bytes, 'base64');
  expect(expected.length).toBe(bytesOf(type, given.length));
  const found = quantise(type, given);
  expect([...expected.keys()].filter((i) => found[i] !== expected[i])).toEqual([]);
});

it('compares all three', () => {
  expect(cases.map(({ type }) => type)).toEqual(['F32', 'F16', 'Q8_0']);
  expect(given.length).toBeGreaterThan(1_000);
});
