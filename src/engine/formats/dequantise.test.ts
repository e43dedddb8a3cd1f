// Every type against PyPI's `gguf`, to the bit; the fixture is written by conformance/models.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { dequantise } from './dequantise.ts';
import { READABLE_TYPES } from './gguf-types.ts';

const FIXTURE = fileURLToPath(new URL('../../../tests/models/fixtures/dequantisers.json', import.meta.url));
type Case = { readonly type: string; readonly number: number; readonly blocks: string; readonly values: string };
const { cases } = JSON.parse(await readFile(FIXTURE, 'utf8')) as { cases: Case[] };

describe('dequantisers', () => {
  it('are tested for every type that is read', () => {
    expect(cases.map(({ number, type }) => [number, type]).sort()).toEqual(
      [...READABLE_TYPES].map(([number, { name }]) => [number, name]).sort(),
    );
  });

  it.each(cases)('gives the values of the reference for $type, to the bit', ({ type, number, blocks, values }) => {
    const bytes = Buffer.from(blocks, 'base64');
    const expected = new Uint32Array(Uint8Array.from(Buffer.from(values, 'base64')).buffer);
    const layout = READABLE_TYPES.get(number)!;
    expect((bytes.length / layout.bytes) * layout.elements).toBe(expected.length);
    const into = new Float32Array(expected.length);
    dequantise(type, bytes, into);
    const wrong = [...expected.keys()].filter((i) => new Uint32Array(into.buffer)[i] !== expected[i]);
    // Minus zero is the only freedom: the reference's integers have none.
    const real = new Float32Array(expected.buffer);
    expect(wrong.filter((i) => !(into[i] === 0 && real[i] === 0))).toEqual([]);
  });

  it('does not ask for aligned bytes', () => {
    const shifted = new Uint8Array([0, ...new Uint8Array(Uint16Array.of(0x3c00, 0xc000).buffer)]).subarray(1);
    const into = new Float32Array(2);
    dequantise('F16', shifted, into);
    expect([...into]).toEqual([1, -2]);
  });
});
