// The shape of `report.json`: what a run measured, as numbers. Shares lie in [0, 1], times are in seconds. What
// could not be measured is null, never 0.

import { z } from 'zod';
import { FAILURE_CLASSES } from './failure-classes.ts';

export const REPORT_VERSION = 1;

const share = z.number().min(0).max(1);
const count = z.int().nonnegative();
const interval = z.tuple([z.number(), z.number()]);
const failures = z.strictObject(
  Object.fromEntries(FAILURE_CLASSES.map((name) => [name, count])) as Record<
    (typeof FAILURE_CLASSES)[number],
    typeof count
  >,
);

const byWantedSchema = z.strictObject({
  /** Number of boxes that the puzzle asks for. */
  wanted: count,
  valid: count,
  exact: share,
  failures,
});

const stageSchema = z.strictObject({
  name: z.string(),
  /** For people, e.g. `GRPO`. */
  title: z.string(),
  /** All episodes; `valid` of them reached an outcome and enter the figures below. */
  episodes: count,
  valid: count,
  invalid: count,
  successes: count,
  /** Every box right, over the valid episodes. */
  exact: share.nullable(),
  /** Wilson, 95 %. */
  exactCI: interval,
  /** Exact success if every invalid episode had failed, and if every one had succeeded. */
  exactBounds: interval,
  /** Raw reward above 0, which other suites count as success. */
  lenient: share.nullable(),
  rawMean: z.number().nullable(),
  actionsMean: z.number().nullable(),
  failures,
  /** How many premature submits were how many boxes short. */
  shortBy: z.array(z.strictObject({ missing: count, episodes: count })),
  byWanted: z.array(byWantedSchema),
});

const comparisonSchema = z.strictObject({
  /** Names of the stages; the difference is b - a. */
  a: z.string(),
  b: z.string(),
  /** Puzzles tried in both stages with a valid episode in each. */
  n: count,
  /** Puzzles left out because an episode was invalid or missing. */
  dropped: count,
  /** Puzzles that b alone solved, and that a alone solved. */
  gained: count,
  lost: count,
  difference: z.number().nullable(),
  /** Paired percentile bootstrap, 95 %; null without width (no or only equal differences). */
  bootstrapCI: interval.nullable(),
  /** Exact McNemar test, two-sided, and its mid-p variant. */
  mcnemarP: share,
  mcnemarMidP: share,
  /** Half width of the distribution-free 95 % interval (Hoeffding); null without pairs. */
  hoeffdingHalfWidth: z.number().nullable(),
  /** Smallest difference that this many puzzles show with power 0.8; null when none would be shown. */
  detectable: share.nullable(),
});

const baselineSchema = z.strictObject({ title: z.string(), exact: share, lenient: share });

/** What it was measured on; peaks are over all sittings of the run. */
const machineSchema = z.strictObject({
  platform: z.string(),
  processor: z.string(),
  cores: count,
  memoryGB: z.number(),
  node: z.string(),
  /** Of the last minute, when the report was written. */
  loadAverage: z.number(),
  /** Largest resident memory of the node process, MB. */
  peakNodeMB: z.number().optional(),
  /** Largest memory of node and all its children, MB: proportional set size, which counts shared pages once. */
  peakTotalMB: z.number().optional(),
});

export const reportSchema = z.strictObject({
  version: z.literal(REPORT_VERSION),
  /** What was reached, and what to compare it with, in words. */
  headline: z.string(),
  context: z.string(),
  env: z.string(),
  model: z.string(),
  stages: z.array(stageSchema).min(1),
  comparisons: z.array(comparisonSchema),
  /** Policies that read nothing, for scale. */
  baselines: z.array(baselineSchema),
  seconds: z.number().nonnegative(),
  seeds: z.strictObject({
    run: z.int(),
    /** Seeds of the held-out puzzles: `first`, `first + 1`, ... */
    evaluation: z.strictObject({ first: z.int(), count }),
    bootstrap: z.int(),
  }),
  machine: machineSchema,
  commit: z.string().nullable(),
  config: z.record(z.string(), z.json()),
});

export type Report = z.infer<typeof reportSchema>;
export type Machine = Report['machine'];
/** Peaks of memory in MB; a figure that this system does not give is left out. */
export type PeakMemory = Pick<Machine, 'peakNodeMB' | 'peakTotalMB'>;
export type StageReport = Report['stages'][number];
export type Comparison = Report['comparisons'][number];
