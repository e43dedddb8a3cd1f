import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeNano, encodeNano, NANO_CONTROL, NANO_VOCABULARY_SIZE, nanoControlId, referenceOf } from './tokenizer.ts';

describe("nano's tokenizer", () => {
  it('gives any text back unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(decodeNano(encodeNano(text))).toBe(text);
      }),
    );
  });

  it('stays within its vocabulary and never makes a control token out of text', () => {
    const text = fc.array(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...NANO_CONTROL, '[7]', ' "', 'checkbox')),
    );
    const control = new Set(NANO_CONTROL.map(nanoControlId));
    fc.assert(
      fc.property(text, (parts) => {
        for (const id of encodeNano(parts.join(''))) {
          expect(id).toBeGreaterThanOrEqual(0);
          expect(id).toBeLessThan(NANO_VOCABULARY_SIZE);
          expect(control.has(id)).toBe(false);
        }
      }),
    );
  });

  it('reads a line of a page in few tokens, and a reference in one', () => {
    const ids = encodeNano('checkbox "MRW" [checked] [18]');
    expect(ids).toHaveLength(8);
    expect(referenceOf(ids.at(-1)!)).toBe(18);
    expect(ids.map((id) => decodeNano([id]))).toEqual(['checkbox', ' "', 'M', 'R', 'W', '" ', '[checked] ', '[18]']);
  });

  it('has one id for each token, none for two', () => {
    const all = Array.from({ length: NANO_VOCABULARY_SIZE }, (_, id) => decodeNano([id])).slice(256);
    expect(new Set(all).size).toBe(all.length);
  });

  it('cuts a label the same way on the page and in the instruction, even when it contains a known word', () => {
    for (const label of ['OKab', 'noSubmit', 'xOK', '[3]z', 'yes']) {
      const onPage = encodeNano(`checkbox "${label}" [1]`).map((id) => decodeNano([id]));
      const asked = encodeNano(`Click ${label}.`).map((id) => decodeNano([id]));
      const name = encodeNano(label).map((id) => decodeNano([id]));
      expect(onPage.join('|')).toContain(name.join('|'));
      expect(asked.join('|')).toContain(name.join('|'));
    }
  });
});
