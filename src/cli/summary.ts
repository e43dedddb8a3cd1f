// The few lines that a command ends with.

import { join } from 'node:path';
import type { Machine, Report } from '../experiments/index.ts';
import { duration, percent, percentRange } from '../util/index.ts';

/** A table of stages, what the comparison says, and where the report lies. */
export function reportSummary(report: Report, folder: string): string {
  const rows = report.stages.map(({ title, exact, exactCI, valid, actionsMean, invalid }) => {
    const share = exact === null ? 'none valid' : `${percent(exact)} (95 % interval ${percentRange(exactCI)})`;
    const actions = actionsMean === null ? '' : `, ${actionsMean.toFixed(2)} actions`;
    return `  ${title.padEnd(6)} ${share} of ${valid} puzzles${actions}${invalid > 0 ? `, ${invalid} invalid` : ''}`;
  });
  return [
    '',
    report.headline,
    ...rows,
    `  ${[duration(report.seconds), ...memory(report.machine)].join(', ')}`,
    '',
    `Report: ${join(folder, 'report.html')}`,
    `Figures: ${join(folder, 'report.json')}`,
  ].join('\n');
}

/** Nothing where it was not measured. */
function memory({ peakTotalMB, peakNodeMB }: Machine): readonly string[] {
  if (peakTotalMB !== undefined)
    return [`peak memory ${peakTotalMB} MB with Chromium (pages that are shared count once)`];
  return peakNodeMB === undefined ? [] : [`peak memory ${peakNodeMB} MB without Chromium`];
}
