// The suite in one line. The figures are those of tests/suites/agent-auth.test.ts, which plays every task.

import type { SuiteDescription } from '../../suite-description.ts';
import { FAMILIES, SEEDS } from './families.ts';

export function describeAgentAuth(): SuiteDescription {
  const count = (split: 'train' | 'test'): number => FAMILIES.filter((one) => one.split === split).length * SEEDS;
  return {
    name: 'agent_auth',
    version: '1.0.0',
    tasks: FAMILIES.length * SEEDS,
    train: count('train'),
    test: count('test'),
    oracle: 1,
    noop: 0,
    blind: 0.003,
  };
}
