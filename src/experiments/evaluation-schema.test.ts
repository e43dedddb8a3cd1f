import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, test } from 'vitest';
import { readEvaluation, stampEvaluation } from './evaluation-schema.ts';
import { evaluationOf, tries } from './fixtures/evaluations.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'evaluation-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const evaluation = evaluationOf(tries([1, 0, 'x']));
const stamped = stampEvaluation(evaluation);

it('is read back as it was written, from its file or from the folder of its run', async () => {
  await writeFile(join(folder, 'evaluation.json'), JSON.stringify(stamped));
  expect(await readEvaluation(join(folder, 'evaluation.json'))).toEqual(evaluation);
  expect(await readEvaluation(folder)).toEqual(evaluation);
});

test.each([
  ['of a newer version', JSON.stringify({ ...stamped, version: 2 }), /has version 2 of tabwright-evaluation/],
  ['of another kind', '{"some":"thing"}', /is not a tabwright-evaluation file/],
  ['that is no JSON', 'success: 100 %', /is not JSON/],
  [
    'with a share above 1',
    JSON.stringify({ ...stamped, summary: { ...evaluation.summary, success: 2 } }),
    /summary\.success/,
  ],
  ['without episodes', JSON.stringify({ ...stamped, episodes: [] }), /episodes/],
])('a file %s is refused', async (name, text, message) => {
  const path = join(folder, `${name.replaceAll(' ', '-')}.json`);
  await writeFile(path, text);
  await expect(readEvaluation(path)).rejects.toThrow(message);
});

it('a file that is not there is refused by its name', async () => {
  await expect(readEvaluation(join(folder, 'nowhere.json'))).rejects.toThrow(/nowhere\.json cannot be read/);
});
