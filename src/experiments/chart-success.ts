// Exact success by stage as horizontal bars with their intervals, and the blind baselines as dashed lines. SVG only.

import { scaleLinear } from 'd3-scale';
import { percent, percentRange } from '../util/index.ts';
import { markup, type Html } from './markup.ts';
import type { Report } from './report-schema.ts';

const WIDTH = 960;
const LEFT = 70;
const RIGHT = 130;
const TOP = 30;
const ROW = 46;
const BAR = 22;

export function successChart({ stages, baselines }: Pick<Report, 'stages' | 'baselines'>): Html {
  const x = scaleLinear([0, 1], [LEFT, WIDTH - RIGHT]);
  const bottom = TOP + stages.length * ROW;
  const bars = stages.map(({ title, exact, exactCI, valid }, i) => {
    const middle = TOP + i * ROW + ROW / 2;
    const label = markup`<text x="${LEFT - 12}" y="${middle + 4}" text-anchor="end" class="strong">${title}</text>`;
    if (exact === null)
      return markup`${label}<text x="${LEFT + 6}" y="${middle + 4}" class="note">no valid episode</text>`;
    const [low, high] = exactCI.map(x);
    return markup`${label}
      <rect
        x="${LEFT}"
        y="${middle - BAR / 2}"
        width="${x(exact) - LEFT}"
        height="${BAR}"
        rx="3"
        class="stage-${i % 4}"
      >
        <title>${title}: ${percent(exact)}, 95 % interval ${percentRange(exactCI)}, n = ${valid}</title>
      </rect>
      <path class="whisker" d="M${low},${middle}H${high}M${low},${middle - 5}v10M${high},${middle - 5}v10" />
      <text x="${high + 10}" y="${middle - 1}" class="strong">${percent(exact)}</text>
      <text x="${high + 10}" y="${middle + 13}" class="note">${percentRange(exactCI)}</text>`;
  });
  const ticks = x.ticks(5).map(
    (tick) =>
      markup`<path class="grid" d="M${x(tick)},${TOP}V${bottom}" />
          <text x="${x(tick)}" y="${bottom + 16}" text-anchor="middle" class="tick">${Math.round(tick * 100)} %</text>`,
  );
  const lines = baselines.map(
    ({ title, exact }) =>
      markup`<path class="baseline" d="M${x(exact)},${TOP - 6}V${bottom}" />
        <text x="${x(exact)}" y="${TOP - 12}" text-anchor="${exact > 0.1 ? 'middle' : 'start'}" class="note"
          >${title} ${percent(exact)}</text
        >`,
  );
  return markup`<svg viewBox="0 0 ${WIDTH} ${bottom + 24}" role="img" aria-label="Exact success by stage">
    ${ticks}${bars}${lines}
  </svg>`;
}
