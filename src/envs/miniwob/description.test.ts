import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeMiniwob } from './description.ts';

test('the figures are those of the published table', () => {
  const file = new URL('../../../docs/results/miniwob-baselines.json', import.meta.url);
  const { overall } = JSON.parse(readFileSync(file, 'utf8')) as {
    overall: Record<'oracle' | 'noop' | 'blind', number | null>;
  };
  const { oracle, noop, blind } = describeMiniwob();
  for (const [figure, published] of [
    [oracle, overall.oracle],
    [noop, overall.noop],
    [blind, overall.blind],
  ]) {
    if (published === null) expect(figure).toBeNull();
    else expect(figure).toBeCloseTo(published, 2);
  }
});
