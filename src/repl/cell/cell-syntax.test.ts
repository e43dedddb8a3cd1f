import { expect, test } from 'vitest';
import { analyseCell, isUnfinishedCell } from './cell-syntax.ts';

test('every line, and the column of what is not declared anew, stays where it was', () => {
  const code =
    'var a = 1, {\n  b } = f(),\n c;\nfunction d() {\n  return a;\n}\nfor (var e of f()) g(e)\nlet h = 1; at(1)';
  const { body, functionSource } = analyseCell(code);
  expect([body.length, functionSource.length]).toEqual([code.length, code.indexOf('}\nfor') + 1]);
  for (const marker of ['f(),', 'f())', 'g(e)', 'at(1)', '\n']) {
    expect(body.split(marker).map((part) => part.length)).toEqual(code.split(marker).map((part) => part.length));
  }
  expect(functionSource.indexOf('return a')).toBe(code.indexOf('return a'));
});

test('names are found where they count', () => {
  expect(
    analyseCell(
      'var a, { b: [c = 1, ...d], ...e } = f; let g; const h = () => { var no1 }; class I { static { var no2 } } async function* j() { var no3 } if (x) { var k; let no4 } try {} catch (no5) { var l }',
    ),
  ).toMatchObject({ variables: ['a', 'c', 'd', 'e', 'k', 'l'], lexicals: ['g', 'h', 'I'], functions: ['j'] });
});

test.each([
  ['f(\n', true],
  ['function f() {\n', true],
  ['x = `a\n', true],
  ['/* a\n', true],
  ['[1,\n', true],
  ['x = 1 +\n', true],
  ['const\n', true],
  ['\n', false],
  ['1 + 1\n', false],
  ['f()\n', false],
  ['let x = ;\n', false],
  ['foo bar\n', false],
  ['"abc\n', false],
  ['/[\n', false],
  [')\n', false],
  ['return 1\n', false],
])('%j goes on: %s', (code, expected) => {
  expect(isUnfinishedCell(code)).toBe(expected);
});
