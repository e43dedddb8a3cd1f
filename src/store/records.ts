// The lines of the run folder's append-only files. Names follow tinker-cookbook's artifacts, so that its tools read
// `metrics.jsonl` and `checkpoints.jsonl`: that is why these lines have no version of their own and why some keys
// are in snake case. Their version is that of the folder, in `config.json`.

import { z } from 'zod';

/** One training or evaluation step. Numbers are finite: leave out what has no value. */
export type MetricsRow = { readonly stage: string; readonly step: number; readonly [name: string]: number | string };

export const metricsRowSchema: z.ZodType<MetricsRow> = z
  .object({ stage: z.string(), step: z.int().nonnegative() })
  .catchall(z.union([z.number(), z.string()]));

export type CheckpointRecord = {
  readonly name: string;
  /** The next step to run. */
  readonly batch: number;
  readonly stage: string;
  /** Weights and optimiser state: a folder relative to the run's `checkpoints`, or a server's name. */
  readonly state_path?: string;
  /** Weights only. */
  readonly sampler_path?: string;
  readonly final?: boolean;
  readonly [extra: string]: number | string | boolean | undefined;
};

export const checkpointRecordSchema: z.ZodType<CheckpointRecord> = z
  .object({
    name: z.string(),
    batch: z.int().nonnegative(),
    stage: z.string(),
    state_path: z.string().optional(),
    sampler_path: z.string().optional(),
    final: z.boolean().optional(),
  })
  .catchall(z.union([z.number(), z.string(), z.boolean()]));

/** Anything worth keeping that happened: progress events, warnings. `time` is added, ISO 8601 in UTC. */
export type RunEvent = { readonly kind: string; readonly [key: string]: unknown };

export const runEventSchema: z.ZodType<RunEvent & { readonly time: string }> = z
  .object({ kind: z.string(), time: z.string() })
  .catchall(z.json());
