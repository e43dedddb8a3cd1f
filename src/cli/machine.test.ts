import { expect, test } from 'vitest';
import { machineFacts, monitorMemory } from './machine.ts';

test('the facts of this machine are those that a report tells', () => {
  expect(machineFacts()).toMatchObject({ processor: expect.stringMatching(/./) as string, node: process.version });
});

test.skipIf(process.platform !== 'linux')('memory is seen from the start, and counts this process at least', () => {
  using memory = monitorMemory();
  const { peakNodeMB, peakTotalMB } = memory.peak();
  expect(peakNodeMB).toBeGreaterThan(20);
  expect(peakTotalMB).toBeGreaterThan(20);
});
