import { describe, expect, it } from 'vitest';
import { rlConfigSchema } from './rl-config.ts';

/** The settings that are complained of. */
function refused(config: object): string[] {
  const result = rlConfigSchema.safeParse(config);
  return result.success ? [] : result.error.issues.map(({ path }) => path.join('.'));
}

describe('settings of the policy-gradient loop', () => {
  it('are accepted as they are by default, and with a loss that bounds the ratio', () => {
    expect(refused({})).toEqual([]);
    expect(refused({ loss: 'ppo', updatesPerBatch: 4, clipLow: 0.9, clipHigh: 1.3 })).toEqual([]);
    expect(refused({ loss: 'cispo', clipHigh: 2 })).toEqual([]);
    expect(refused({ schedule: 'linear', floor: 0.1 })).toEqual([]);
  });

  it('are refused by name where they would do nothing', () => {
    expect(refused({ updatesPerBatch: 4 })).toEqual(['updatesPerBatch']);
    expect(refused({ clipLow: 0.8, clipHigh: 1.2 })).toEqual(['clipLow', 'clipHigh']);
    expect(refused({ floor: 0.1 })).toEqual(['floor']);
  });

  it('are refused where the ratio could be nothing, the default of the other bound included', () => {
    expect(refused({ loss: 'ppo', clipLow: 2, clipHigh: 1 })).toEqual(['clipLow']);
    expect(refused({ loss: 'ppo', clipLow: 1.2 })).toEqual(['clipLow']);
    expect(refused({ loss: 'ppo', clipHigh: 0.8 })).toEqual(['clipHigh']);
  });
});
