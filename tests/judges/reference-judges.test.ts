// What needs no model to judge, and the page that says how far one gets with it.

import { expect, it } from 'vitest';
import { judgePage, type SetEpisode } from '../../bench/judge-page.ts';
import { REFERENCE_JUDGES } from '../../bench/reference-judges.ts';
import type { JudgeInput } from '../../src/judges/index.ts';

const input = (more: Partial<JudgeInput>): JudgeInput => ({
  instruction: 'Order tea.',
  stop: 'answered',
  actions: ['click "button" "Order"'],
  pictures: [],
  answer: 'Done.',
  ...more,
});

it.each([
  ['an answer after an act', input({}), [true, true, true]],
  ['an answer without an act', input({ actions: [] }), [true, true, false]],
  ['no answer', input({ answer: undefined }), [true, false, false]],
  ['an empty answer', input({ answer: ' ' }), [true, false, false]],
  ['one that gives up', input({ answer: 'I could not find it, sorry.' }), [true, false, false]],
  ['one that a limit ended', input({ stop: 'max_actions' }), [true, false, false]],
])('%s', (_what, given, verdicts) => {
  expect(REFERENCE_JUDGES.map(({ says }) => says(given))).toEqual(verdicts);
});

it('the page counts by suite and kind, and rates what each judge said against the labels', () => {
  const one = (variant: SetEpisode['variant'], label: boolean, more: Partial<JudgeInput> = {}): SetEpisode => ({
    suite: variant === 'lie' ? 'mail' : 'shop',
    variant,
    label,
    input: input(more),
  });
  const episodes = [
    one('solved', true),
    one('solved', true),
    one('near-miss', false),
    one('lie', false, { actions: [] }),
  ];
  const page = judgePage({ episodes, command: 'the command', made: 'then and there.' });
  expect(page).toContain('4 episodes in a real Chromium on sites of our own, 2 successes and 2 failures.');
  expect(page).toMatch(/\| `shop` \| 2, 2 \| 1, 0 \| - \| - \| - \| 3, 2 \|/);
  expect(page).toMatch(/\| `mail` \| - \| - \| 1, 0 \| - \| - \| 1, 0 \|/);
  // Wilson's interval of 2 of 4 at 95 %.
  expect(page).toMatch(/`always`.*\| 50\.0 % \(15\.0 to 85\.0\) \| 100\.0 % .* \| 100\.0 % .* \| 50\.0 %/);
  expect(page).toMatch(/\| `acts and claims` \| 1 of 1 \| 0 of 1 \| 0 of 0 \| 0 of 0 \|/);
});
