import { describe, expect, it } from 'vitest';
import type { ToolSpec } from '../../core/index.ts';
import { readXmlCall } from './xml-calls.ts';

const TOOL: ToolSpec = {
  name: 'act',
  description: '',
  parameters: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      count: { type: 'integer' },
      on: { type: 'boolean' },
      maybe: { type: ['string', 'null'] },
      list: { type: 'array' },
      choice: { enum: [1, 2] },
    },
  },
};

const call = (...parameters: readonly (readonly [string, string])[]): string =>
  `\n<function=act>\n${parameters.map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`).join('')}</function>\n`;
const read = (text: string) => {
  const reading = readXmlCall(text, [TOOL]);
  return 'call' in reading ? reading.call.arguments : reading.malformed.problem;
};

describe('calls written as tags', () => {
  it('take their values by the schema of the tool', () => {
    expect(read(call(['text', '007'], ['count', '5'], ['on', 'True']))).toBe('{"text": "007", "count": 5, "on": true}');
    expect(read(call(['text', 'null'], ['maybe', 'None'], ['choice', '2']))).toBe(
      '{"text": "null", "maybe": null, "choice": 2}',
    );
    expect(read(call(['list', '[1.0, {"a": 1e-07}]']))).toBe('{"list": [1.0, {"a": 1e-07}]}');
  });

  it('leave what the schema does not allow, and what no schema names, the text that it was', () => {
    expect(read(call(['count', 'five'], ['on', '1'], ['list', '[1,']))).toBe(
      '{"count": "five", "on": "1", "list": "[1,"}',
    );
    expect(read(call(['other', '5']))).toBe('{"other": "5"}');
    expect(read(call(['constructor', '5']))).toBe('{"constructor": "5"}');
  });

  it('keep white space and tags within a value', () => {
    expect(read(call(['text', '  a\n\n</parameter> b </function>\n']))).toBe(
      '{"text": "  a\\n\\n</parameter> b </function>\\n"}',
    );
  });

  it('say what is wrong', () => {
    expect(read('click')).toBe('a call begins with <function=NAME>');
    expect(read('<function=>\n</function>')).toBe('the call names no function; write <function=NAME>');
    expect(read('<function=act>\n<parameter=text>\nx\n</parameter>')).toBe('the call does not end with </function>');
    expect(read('<function=act>\n{"text": "x"}\n</function>')).toContain('this is not: {"text": "x"}');
    expect(read(call(['text', 'a'], ['text', 'b']))).toBe('the argument text is given twice');
  });
});
