import { expect, it } from 'vitest';
import { baselinePage, baselineTable, baselineTables } from './baselines.ts';
import { evaluationOf, tries } from './fixtures/evaluations.ts';
import type { Evaluation } from './evaluation-schema.ts';

const of = (model: string, results: Parameters<typeof tries>[0], more: object = {}): Evaluation =>
  evaluationOf(tries(results), { model, ...more });

const rowsOf = (page: string): readonly string[] => page.split('\n').filter((line) => line.startsWith('| `'));

it('is the same text in whatever order evaluations come, policies without a model first', () => {
  const all = [of('zeta', [1, 0]), of('scripted:blind', [0, 0]), of('alpha', [1, 1]), of('scripted:oracle', [1, 1])];
  const page = baselinePage(all);
  expect(baselinePage([...all].reverse())).toBe(page);
  expect(rowsOf(page).map((row) => row.split('`')[1])).toEqual(['scripted:oracle', 'scripted:blind', 'alpha', 'zeta']);
});

it('shows success, the interval to quote and what it is over, and what broken episodes could change', () => {
  const clustered = evaluationOf(
    ['a', 'b', 'c'].map((task, i) => ({ task, seed: 0, results: [1, i === 0 ? 0 : 1] as const })),
    { model: 'clustered' },
  );
  const [one, two] = rowsOf(baselineTable([of('broken', [1, 0, 'x']), clustered])).map((row) =>
    row.replaceAll('\u00a0', ' '),
  );
  expect(one).toBe('| `broken` | - | 50.0 % | 9.5 to 90.5 % | 2 episodes | 3 | 1 | 33.3 to 66.7 % | 2026-11-30 |');
  expect(two).toMatch(/\| 83\.3 % \| \d.* % \| 3 tasks \| 6 \(2 a task\) \| 0 \| - \|/);
});

it('takes the newest evaluation of a policy, and keeps apart what is judged otherwise', () => {
  const older = of('m', [0, 0], { date: '2026-01-01T00:00:00.000Z' });
  const newer = of('m', [1, 1], { date: '2026-02-01T00:00:00.000Z' });
  const judged = of('m', [1, 0], { reward: 'webjudge' });
  const page = baselinePage([newer, older, judged]);
  expect(rowsOf(page).map((row) => row.split('|').at(-2)!.trim())).toEqual(['2026-02-01', '2026-11-30']);
  expect(page.match(/^## .*$/gm)).toEqual([
    '## toy 1, test tasks; success by code',
    '## toy 1, test tasks; success by webjudge',
  ]);
});

it('has a table for each set of instances: ten episodes do not stand beside a hundred', () => {
  const page = baselinePage([of('few', [1]), of('many', [1, 0]), of('more', [0, 0])]);
  expect(page.match(/^## .*$/gm)).toEqual([
    expect.stringMatching(/^## toy 1, test tasks; success by code; on 1 instances \([0-9a-f]{8}\)$/),
    expect.stringMatching(/^## toy 1, test tasks; success by code; on 2 instances \([0-9a-f]{8}\)$/),
  ]);
  expect(page.split('\n## ').map((part) => rowsOf(part).length)).toEqual([0, 1, 2]);
});

it('keeps apart what was drawn otherwise, and says the temperature where it differs', () => {
  const at = (temperature: number, date: string) =>
    of('m', [1], { date, sampling: { seed: 1, temperature, samples: 1 } });
  const page = baselinePage([at(0, '2026-01-01T00:00:00.000Z'), at(1, '2026-02-01T00:00:00.000Z')]);
  expect(rowsOf(page).map((row) => row.split(' | ')[0])).toEqual(['| `m` at 0', '| `m` at 1']);
  const twice = evaluationOf([{ seed: 0, results: [1, 0] }], { model: 'm' });
  expect(rowsOf(baselinePage([of('m', [1]), twice]))).toHaveLength(2);
});

it('a stroke in the name of a model ends no cell', () => {
  expect(rowsOf(baselinePage([of('a|b', [1])]))[0]).toMatch(/^\| `a\\\|b` \| - \|/);
});

it('a command’s table is one where all are of the same tasks, else one a set, which says what differs', () => {
  const [few, many] = [of('few', [1]), of('many', [1, 0])];
  expect(baselineTables([many, of('more', [0, 0])])).toBe(baselineTable([many, of('more', [0, 0])]));
  const apart = baselineTables([many, few, of('more', [0, 0]), of('judged', [0, 1], { reward: 'webjudge' })]);
  expect(apart.match(/^## .*$/gm)).toEqual([
    expect.stringMatching(/^## toy 1, test tasks; success by code; on 2 instances \([0-9a-f]{8}\)$/),
    expect.stringMatching(/^## toy 1, test tasks; success by code; on 1 instances \([0-9a-f]{8}\)$/),
    '## toy 1, test tasks; success by webjudge',
  ]);
  expect(apart.split('\n\n## ').map((part) => rowsOf(part).map((row) => row.split('`')[1]))).toEqual([
    ['many', 'more'],
    ['few'],
    ['judged'],
  ]);
});
