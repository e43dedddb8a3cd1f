// Training curves of one or several runs as one picture that stands alone: a line with its interval for the episodes of
// each step, points with theirs for what was measured on the way. SVG only.

import { scaleLinear, type ScaleLinear } from 'd3-scale';
import { area, line } from 'd3-shape';
import { compact, percent } from '../util/index.ts';
import { htmlToString, markup, NOTHING, styleElement, type Html } from './markup.ts';
import type { CurvePoint, TrainingCurve } from './training-curve.ts';

export const CHART_SIZE = { width: 960, height: 540 } as const;

const MARGIN = { left: 64, right: 24, top: 56, bottom: 46 };
/** Told apart by people who see few colours: the palette of Okabe and Ito (2008). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'] as const;
const LEGEND_ROW = 18;

const STYLE = `
text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1b1f24; }
.title { font-size: 16px; font-weight: 650; }
.tick, .note { font-size: 12px; fill: #5d6570; }
.grid { stroke: #e3e4e0; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.band { opacity: 0.16; }
.whisker { stroke-width: 1.5; }
`;

type Scale = ScaleLinear<number, number>;

/** All curves are of one metric. */
export function trainingChart(curves: readonly TrainingCurve[]): string {
  const { width, height } = CHART_SIZE;
  const [{ metric }] = curves;
  const top = MARGIN.top + LEGEND_ROW * curves.length;
  const points = curves.flatMap(({ training, measured }) => [...training, ...measured]);
  const x = scaleLinear(extent(points.map(({ step }) => step)), [MARGIN.left, width - MARGIN.right]);
  const y =
    metric === 'success'
      ? scaleLinear([0, 1], [height - MARGIN.bottom, top])
      : scaleLinear(extent(points.flatMap(({ value, interval }) => [value, ...(interval ?? [])])), [
          height - MARGIN.bottom,
          top,
        ]).nice(5);
  const show = shownAs(metric);
  const yTicks = y.ticks(5).map(
    (tick) =>
      markup`<path class="grid" d="M${MARGIN.left},${y(tick)}H${width - MARGIN.right}" />
        <text x="${MARGIN.left - 10}" y="${y(tick) + 4}" text-anchor="end" class="tick">${show(tick)}</text>`,
  );
  const xTicks = x
    .ticks(8)
    .filter(Number.isInteger)
    .map(
      (tick) =>
        markup`<text x="${x(tick)}" y="${height - MARGIN.bottom + 18}" text-anchor="middle" class="tick">${tick}</text>`,
    );
  const title = metric === 'success' ? 'Exact success' : 'Reward';
  const svg = markup`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    role="img"
    aria-label="${title} in training: ${curves.map(({ name }) => name).join(', ')}"
    >${styleElement(STYLE)}<rect width="${width}" height="${height}" fill="#ffffff" />
    <text x="${MARGIN.left}" y="28" class="title">${title} in training</text>
    <text x="${width - MARGIN.right}" y="28" text-anchor="end" class="note"
      >line: episodes of the step; points: held-out tasks; 95 % intervals</text
    >
    ${curves.map(legend)}${yTicks}${xTicks}
    <text x="${(MARGIN.left + width - MARGIN.right) / 2}" y="${height - 8}" text-anchor="middle" class="note">updates</text>
    ${curves.map((curve, i) => drawCurve(curve, { x, y, colour: COLOURS[i % COLOURS.length] }))}
  </svg>`;
  return `${htmlToString(svg)}\n`;
}

function shownAs(metric: TrainingCurve['metric']): (value: number) => string {
  return metric === 'success' ? (value) => percent(value).replace('.0', '') : compact;
}

function legend(curve: TrainingCurve, i: number): Html {
  const { name, rewardSource } = curve;
  const at = 50 + LEGEND_ROW * i;
  const notes = [`graded by ${rewardSource}`, ...lastOf(curve), ...failuresOf(curve)].join(', ');
  return markup`<path class="line" stroke="${COLOURS[i % COLOURS.length]}" d="M${MARGIN.left},${at}h18" />
    <text x="${MARGIN.left + 26}" y="${at + 4}">${name}<tspan class="note">  ${notes}</tspan></text>`;
}

/** The newest figure and when it was had: the last measurement may be from long before the last step. */
function lastOf({ metric, training, measured }: TrainingCurve): readonly string[] {
  const show = shownAs(metric);
  const [held, played] = [measured.at(-1), training.at(-1)];
  if (held !== undefined) return [`held out ${show(held.value)} after ${updates(held.step)}`];
  return played === undefined ? [] : [`${show(played.value)} after ${updates(played.step)}`];
}

function failuresOf({ failedMeasurements: count }: TrainingCurve): readonly string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? 'measurement' : 'measurements'} failed`];
}

const updates = (count: number): string => `${count} ${count === 1 ? 'update' : 'updates'}`;

type Drawing = { readonly x: Scale; readonly y: Scale; readonly colour: string };

function drawCurve({ training, measured }: TrainingCurve, { x, y, colour }: Drawing): Html {
  const path = line<CurvePoint>(
    ({ step }) => x(step),
    ({ value }) => y(value),
  ).digits(1);
  const band = area<CurvePoint>()
    .defined(({ interval }) => interval !== undefined)
    .x(({ step }) => x(step))
    .y0(({ interval }) => y(interval?.[0] ?? 0))
    .y1(({ interval }) => y(interval?.[1] ?? 0))
    .digits(1);
  const dots = measured.map(({ step, value, interval }) => {
    const whisker =
      interval === undefined
        ? NOTHING
        : markup`<path class="whisker" stroke="${colour}" d="M${x(step)},${y(interval[0])}V${y(interval[1])}" />`;
    return markup`${whisker}<circle cx="${x(step)}" cy="${y(value)}" r="4.5" fill="#ffffff" stroke="${colour}" stroke-width="2" />`;
  });
  return markup`<path class="band" fill="${colour}" d="${band(training) ?? ''}" />
    <path class="line" stroke="${colour}" d="${path(training) ?? ''}" />${dots}`;
}

/** A single value still needs a scale with some extent. */
function extent(values: readonly number[]): [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}
