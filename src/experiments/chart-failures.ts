// What became of the valid episodes of each stage, as one bar a stage that adds up to all of them. SVG only.

import { scaleLinear } from 'd3-scale';
import { percent } from '../util/index.ts';
import { FAILURE_CLASSES } from './failure-classes.ts';
import { markup, type Html } from './markup.ts';
import type { StageReport } from './report-schema.ts';

const WIDTH = 960;
const LEFT = 70;
const ROW = 40;
const BAR = 24;
/** Narrower segments carry no figure. */
const LABEL_FROM = 40;

export function failureChart(stages: readonly StageReport[]): Html {
  const height = stages.length * ROW;
  const bars = stages.map(({ title, valid, successes, failures }, i) => {
    const x = scaleLinear([0, Math.max(valid, 1)], [0, WIDTH - LEFT]);
    const y = i * ROW + (ROW - BAR) / 2;
    const counts = [
      { name: 'solved', count: successes },
      ...FAILURE_CLASSES.map((name) => ({ name, count: failures[name] })),
    ];
    let start = LEFT;
    const segments = counts.flatMap(({ name, count }) => {
      if (count === 0) return [];
      const [left, width] = [start, x(count)];
      start += width;
      const figure =
        width < LABEL_FROM
          ? ''
          : markup`<text x="${left + width / 2}" y="${y + BAR / 2 + 4}" text-anchor="middle" class="inside on-${name}"
              >${count}</text
            >`;
      return [
        markup`<rect x="${left}" y="${y}" width="${Math.max(width - 1, 1)}" height="${BAR}" class="${name}">
            <title>${title}, ${name}: ${count} of ${valid} (${percent(count / valid)})</title></rect
          >${figure}`,
      ];
    });
    return markup`<text x="${LEFT - 12}" y="${y + BAR / 2 + 5}" text-anchor="end" class="strong">${title}</text
      >${segments}`;
  });
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Outcomes by stage">${bars}</svg>`;
}

export function failureLegend(): Html {
  const items = ['solved', ...FAILURE_CLASSES].map(
    (name) => markup`<li><span class="swatch ${name}"></span>${name.replace('-', ' ')}</li>`,
  );
  return markup`<ul class="legend">
    ${items}
  </ul>`;
}
