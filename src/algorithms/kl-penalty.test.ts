import { describe, expect, it } from 'vitest';
import { applyKlPenalty } from './kl-penalty.ts';
import { trajectoryToRows } from './rows.ts';

describe('applyKlPenalty', () => {
  const rows = trajectoryToRows([{ promptTokens: [7], actionTokens: [1, 2], logprobs: [-1, -2] }], 0.5);

  it('pays for distance from the reference, centred on the batch', () => {
    const { rows: penalised, kl } = applyKlPenalty(rows, { beta: 0.1, reference: [[-1.5, -4]] });
    expect(kl).toBeCloseTo((0.5 + 2) / 2, 12);
    expect(penalised[0].advantages[0]).toBeCloseTo(0.5 + 0.1 * (1.25 - 0.5), 12);
    expect(penalised[0].advantages[1]).toBeCloseTo(0.5 + 0.1 * (1.25 - 2), 12);
  });

  it('changes nothing when the policy is the reference', () => {
    expect(applyKlPenalty(rows, { beta: 0.1, reference: [[-1, -2]] }).rows).toEqual(rows);
  });
});
