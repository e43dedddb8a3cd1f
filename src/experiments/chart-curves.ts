// Training curves as small panels, one for each quantity and stage that has data: the values as they are, thin, and
// their running mean over five steps, bold. SVG only.

import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import type { MetricsRow } from '../store/index.ts';
import { compact } from '../util/index.ts';
import { markup, type Html } from './markup.ts';

type Quantity = {
  /** Name in `metrics.jsonl`. */
  readonly key: string;
  /** Divided by the seconds of the step. Default false. */
  readonly perSecond?: boolean;
  readonly title: string;
  readonly unit: string;
  readonly floor?: number;
  readonly ceiling?: number;
};

/** What is drawn, by its name in `metrics.jsonl`. */
const QUANTITIES: readonly Quantity[] = [
  { key: 'train_mean_nll', title: 'Loss', unit: 'nats per token', floor: 0 },
  { key: 'env/all/success', title: 'Exact success in training', unit: 'share of episodes', floor: 0, ceiling: 1 },
  { key: 'env/all/reward/total', title: 'Raw reward', unit: 'mean per episode' },
  {
    key: 'env/all/by_group/frac_mixed',
    title: 'Mixed groups',
    unit: 'share with something to learn',
    floor: 0,
    ceiling: 1,
  },
  { key: 'optim/entropy', title: 'Entropy', unit: 'nats per token', floor: 0 },
  { key: 'optim/kl_sample_train_v1', title: 'Sampler against trainer', unit: 'mean difference, nats' },
  { key: 'kl_policy_base', title: 'KL to the SFT reference', unit: 'nats per token' },
  { key: 'env/all/turns_per_episode', title: 'Actions', unit: 'per episode', floor: 0 },
  { key: 'num_tokens', perSecond: true, title: 'Training speed', unit: 'tokens per second', floor: 0 },
  {
    key: 'env/all/total_ob_tokens',
    perSecond: true,
    title: 'Speed',
    unit: 'prompt tokens per second',
    floor: 0,
  },
];

const WIDTH = 300;
const HEIGHT = 150;
const MARGIN = { left: 44, right: 8, top: 8, bottom: 20 };
const SMOOTHING = 5;

/** One panel for each quantity and stage with at least two points. `titleOf` names a stage for people. */
export function curvePanels(rows: readonly MetricsRow[], titleOf: (stage: string) => string): Html[] {
  const stages = [...new Set(rows.map(({ stage }) => stage))];
  return stages.flatMap((stage) =>
    QUANTITIES.flatMap((quantity) => {
      const points = rows.flatMap((row): Point[] => {
        const value = row.stage === stage ? valueOf(quantity, row) : undefined;
        return value === undefined ? [] : [{ step: row.step, value }];
      });
      return points.length < 2 ? [] : [panel(quantity, titleOf(stage), points)];
    }),
  );
}

function valueOf({ key, perSecond = false }: Quantity, row: MetricsRow): number | undefined {
  const [value, seconds] = [row[key], row['time/total']];
  if (typeof value !== 'number') return undefined;
  if (!perSecond) return value;
  return typeof seconds === 'number' && seconds > 0 ? value / seconds : undefined;
}

type Point = { readonly step: number; readonly value: number };

function panel({ title, unit, floor, ceiling }: Quantity, stage: string, points: readonly Point[]): Html {
  const values = points.map(({ value }) => value);
  const low = floor ?? Math.min(...values);
  const high = ceiling ?? Math.max(...values);
  const x = scaleLinear([points[0].step, points[points.length - 1].step], [MARGIN.left, WIDTH - MARGIN.right]);
  // A constant series still needs a scale with some height.
  const y = scaleLinear(low === high ? [low - 1, high + 1] : [low, high], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  if (ceiling === undefined) y.nice(3);
  const path = line<Point>(
    ({ step }) => x(step),
    ({ value }) => y(value),
  ).digits(1);
  const yTicks = y.ticks(3).map(
    (tick) =>
      markup`<path class="grid" d="M${MARGIN.left},${y(tick)}H${WIDTH - MARGIN.right}" />
          <text x="${MARGIN.left - 6}" y="${y(tick) + 4}" text-anchor="end" class="tick">${compact(tick)}</text>`,
  );
  const xTicks = x
    .ticks(4)
    .filter(Number.isInteger)
    .map((tick) => markup`<text x="${x(tick)}" y="${HEIGHT - 5}" text-anchor="middle" class="tick">${tick}</text>`);
  return markup`<figure class="card">
    <h3>${title} <small>${stage}, ${unit}</small></h3>
    <svg
      viewBox="0 0 ${WIDTH} ${HEIGHT}"
      role="img"
      aria-label="${title}, ${stage}: from ${compact(values[0])} to ${compact(values[values.length - 1])}"
    >
      ${yTicks}${xTicks}
      <path class="raw" d="${path(points) ?? ''}" />
      <path class="smooth" d="${path(runningMean(points)) ?? ''}" />
    </svg>
  </figure>`;
}

/** Mean over a centred window of `SMOOTHING` points, fewer at the ends. */
function runningMean(points: readonly Point[]): Point[] {
  const reach = (SMOOTHING - 1) / 2;
  return points.map(({ step }, i) => {
    const window = points.slice(Math.max(0, i - reach), i + reach + 1);
    return { step, value: window.reduce((sum, { value }) => sum + value, 0) / window.length };
  });
}
