// The suite in one line, with the figures of docs/results/miniwob-baselines.json; a test holds the two together.

import type { SuiteDescription } from '../suite-description.ts';
import { MINIWOB_VERSION } from './content.ts';
import { MINIWOB_TASKS } from './tasks.ts';

export function describeMiniwob(): SuiteDescription {
  const count = (split: 'train' | 'test'): number => MINIWOB_TASKS.filter((task) => task.split === split).length;
  return {
    name: 'miniwob',
    version: MINIWOB_VERSION,
    tasks: MINIWOB_TASKS.length,
    train: count('train'),
    test: count('test'),
    oracle: 0.994,
    noop: 0,
    blind: 0.171,
  };
}
