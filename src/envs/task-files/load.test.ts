import { expect, it } from 'vitest';
import { readTaskFile } from './load.ts';

const read = (more: object) =>
  readTaskFile({
    name: 't',
    container: 'json',
    rows: [{ where: 'row 1', value: { id: 'a', url: 'https://a.test/', instruction: 'Look.', answer: 'x', ...more } }],
  }).problems;

it.each([{ id: 'a\u0000b' }, { id: 'a\nb' }])('a name that ends a line or a variable is refused: %j', (more) => {
  expect(read(more)).toMatchObject([{ where: 'row 1', field: 'id', problem: 'holds a control character' }]);
});

it('other names are not', () => expect(read({ id: 'ä b/c' })).toEqual([]));
