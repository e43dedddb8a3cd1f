// Files that pyarrow 26 wrote, with each compression that data sets use.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mathProblems } from '../math/index.ts';
import { readTaskFile } from './load.ts';
import { parseRows } from './read-rows.ts';

const fixture = (name: string): Uint8Array => readFileSync(new URL(`./fixtures/${name}.parquet`, import.meta.url));

it.each(['none', 'snappy', 'zstd', 'gzip'])('problems out of Parquet with compression %s', async (codec) => {
  const rows = await parseRows('sums.parquet', fixture(`sums-${codec}`));
  expect(rows.container).toBe('parquet');
  expect(mathProblems(rows).map(({ question, answer }) => [question, answer.numerator])).toEqual([
    ['Ann has 3 pears and buys 4. How many has she?', 7n],
    ['Half of $1,200?', 600n],
    ['Was sind 2 \u2212 5?', -3n],
  ]);
});

it('nested rows, numbers and what is missing', async () => {
  const file = readTaskFile(await parseRows('gym.parquet', fixture('webgym-nested')));
  expect(file).toMatchObject({ format: 'webgym', problems: [] });
  expect(file.tasks[0].task.checks).toMatchObject([
    { question: { groups: [{ facts: ['it is named', 'it is free on Monday'] }], answer: '' } },
  ]);
});

it('a damaged file is refused by name', async () => {
  const bytes = Uint8Array.from(fixture('sums-snappy'));
  await expect(parseRows('sums.parquet', bytes.subarray(0, 60))).rejects.toThrow(
    /^sums\.parquet cannot be read as Parquet/u,
  );
});
