import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../core/index.ts';
import { readJson, toJsonText, toJsonValue, writeJson } from './json-text.ts';
import { pythonStr, pythonStrip } from './python-text.ts';

const node = (text: string) => {
  const reading = readJson(text);
  if ('problem' in reading) throw new Error(reading.problem);
  return reading.node;
};

describe('JSON that keeps what was written', () => {
  it('keeps number literals and the order of keys', () => {
    const text = '{"z": 1.0, "10": 1e-07, "2": 1152921504606846976, "a": [-0.0, 1E+20]}';
    expect(writeJson(node(text))).toBe(text);
  });

  it('reads what JSON.parse reads, and refuses what it refuses', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(toJsonValue(node(JSON.stringify(value, null, 2)))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    const noise = fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 01.eE+-trufalsn\n\u0001'), maxLength: 12 });
    fc.assert(
      fc.property(noise, (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        expect('node' in readJson(text)).toBe(valid);
      }),
      { numRuns: 1000 },
    );
  });

  it('says where it is wrong, and does not overflow on deep nesting', () => {
    expect(readJson('{"a": tru}')).toEqual({ problem: 'the JSON has "t" at character 7 where a value should be' });
    expect(readJson('{"a": 1')).toEqual({ problem: 'the JSON has the end at character 8 where "," or "}" should be' });
    expect(readJson('['.repeat(100_000))).toEqual({ problem: 'the JSON is nested deeper than 100' });
  });

  it('writes numbers, words and lists as Python does', () => {
    const values: readonly (readonly [JsonValue, string])[] = [
      [1e-7, '1e-07'],
      [0.00001, '1e-05'],
      [0.0001, '0.0001'],
      [1e21, '1e+21'],
      [2 ** 60, '1152921504606846976'],
      [-0, '0'],
      [1.5, '1.5'],
    ];
    for (const [value, text] of values) expect(writeJson(toJsonText(value))).toBe(text);
    expect(pythonStr(toJsonText(['string', 'null', true, null, "it's"]))).toBe(
      `['string', 'null', True, None, "it's"]`,
    );
    expect(writeJson(toJsonText({ a: [1, {}], b: [] }), { indent: 2 })).toBe(
      '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}',
    );
  });

  it('strips what Python strips', () => {
    expect(pythonStrip('\u001c\u0085 a\ufeff b \u2028\u3000')).toBe('a\ufeff b');
    expect(pythonStrip('\ufeffa\ufeff')).toBe('\ufeffa\ufeff');
    expect(pythonStrip(' \n ')).toBe('');
  });
});
