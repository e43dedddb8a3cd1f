// The sentence that sums a run up, with its interval and what it is to be compared with. Words only; the figures are
// the report's.

import { percent, percentRange } from './format.ts';
import type { Report, StageReport } from './report-schema.ts';

/** E.g. "GRPO solves 91.5 % of 200 held-out puzzles exactly (95 % interval 86.8 to 94.6 %), up from ...". */
export function headlineOf(stages: readonly StageReport[], baselines: Report['baselines']): string {
  const last = stages[stages.length - 1];
  if (last.exact === null) return `${last.title}: none of ${last.episodes} episodes reached an outcome.`;
  const result =
    `${last.title} solves ${percent(last.exact)} of ${last.valid} held-out puzzles exactly ` +
    `(95 % interval ${percentRange(last.exactCI)})`;
  const first = stages[0];
  const context = [
    ...(stages.length > 1 && first.exact !== null ? [`${first.title} solved ${percent(first.exact)}`] : []),
    ...baselines.slice(0, 1).map(({ title, exact }) => `${title} solves ${percent(exact)}`),
  ];
  return context.length === 0 ? `${result}.` : `${result}; ${context.join(' and ')}.`;
}
