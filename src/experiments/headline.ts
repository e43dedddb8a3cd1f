// The two sentences that sum a run up: what was reached and how sure that is, and what to compare it with. Words only;
// the figures are the report's.

import { percent, percentRange } from '../util/index.ts';
import type { Report, StageReport } from './report-schema.ts';

/** E.g. "GRPO solves 91.5 % of 200 held-out puzzles exactly (95 % interval 86.8 to 94.6 %)." */
export function headlineOf(stages: readonly StageReport[]): string {
  const last = stages[stages.length - 1];
  if (last.exact === null) return `${last.title}: none of ${last.episodes} episodes reached an outcome.`;
  const interval = percentRange(last.exactCI);
  return `${last.title} solves ${percent(last.exact)} of ${last.valid} held-out puzzles exactly (95\u00a0% interval ${interval}).`;
}

/** E.g. "Base solved 13.5 %, SFT 37.0 %. Blind Submit solves 9.7 %." Empty when there is nothing to compare with. */
export function contextOf(stages: readonly StageReport[], baselines: Report['baselines']): string {
  const earlier = stages.slice(0, -1).flatMap(({ title, exact }) => (exact === null ? [] : [{ title, exact }]));
  const sentence = (items: readonly { title: string; exact: number }[], verb: string): string[] =>
    items.length === 0
      ? []
      : [`${items.map(({ title, exact }, i) => `${title} ${i === 0 ? `${verb} ` : ''}${percent(exact)}`).join(', ')}.`];
  return [...sentence(earlier, 'solved'), ...sentence(baselines, 'solves')].join(' ');
}
