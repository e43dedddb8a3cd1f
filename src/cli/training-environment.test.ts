// Which flags are for training and which for tasks of a file that are measured on the way.

import { expect, it } from 'vitest';
import { dividedSettings } from './training-environment.ts';

const GIVEN = {
  pages: 8,
  sessions: 2,
  allow: '*',
  turnTokens: 64,
  reward: 'webjudge',
  storageState: 's.json',
} as const;
const keys = (settings: object): readonly string[] => Object.keys(settings).filter((name) => name in GIVEN);

it.each<[string, readonly string[]]>([
  ['click-checkboxes', ['pages']],
  ['miniwob/click-test', ['pages']],
  ['math:sums.jsonl', ['pages', 'sessions', 'turnTokens']],
  ['agent_auth', ['pages', 'sessions', 'allow', 'turnTokens', 'reward']],
  ['tasks:train.jsonl', Object.keys(GIVEN)],
])('in %s a flag that only the measured file heeds is for that', (env, training) => {
  const divided = dividedSettings({ env, ...GIVEN, evalTasks: 'held-out.jsonl' });
  expect(keys(divided.training)).toEqual(training);
  expect(keys(divided.measured)).toEqual(Object.keys(GIVEN).filter((name) => name !== 'pages'));
});

it('without a file all of them are for both', () => {
  const config = { env: 'click-checkboxes', ...GIVEN, evalTasks: 'test' };
  expect(dividedSettings(config)).toEqual({ training: config, measured: config });
});
