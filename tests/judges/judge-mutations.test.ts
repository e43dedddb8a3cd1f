// What makes an oracle's episode almost right.

import { expect, it } from 'vitest';
import { dropLastAct, wrongAnswer } from '../../bench/judge-mutations.ts';
import { spread } from '../../bench/judge-set.ts';

it.each([
  ['await fill("a", "1"); await submit("Send");', 'await fill("a", "1"); '],
  [`await open('Mail'); await submit("Say (twice)"); await read('h1');`, `await open('Mail');  await read('h1');`],
  [`await click('[name="x"]'); repl.write(1)`, ' repl.write(1)'],
  ['await read("h1");', ''],
])('%s loses its last step', (code, without) => expect(dropLastAct(code)).toBe(without));

it.each([
  ['[{"name":"a"},{"name":"b"}]', '', '[{"name":"a"}]'],
  ['[{"name":"a"}]', '', '[]'],
  ['£12.49', '£3', '£12.40'],
  ['Oxford', 'Leeds', 'Leeds'],
  ['Oxford', 'Oxford', 'not Oxford'],
])('%s becomes another answer', (right, guess, wrong) => expect(wrongAnswer(right, guess)).toBe(wrong));

it('tasks are taken from every group before a second of any', () => {
  const task = (id: string, group: string) => ({ id, group, split: 'train' as const, url: '', instruction: '' });
  const tasks = [task('a1', 'a'), task('a2', 'a'), task('a3', 'a'), task('b1', 'b'), task('c1', 'c')];
  expect(spread(tasks, 4).map(({ id }) => id)).toEqual(['a1', 'b1', 'c1', 'a2']);
});
