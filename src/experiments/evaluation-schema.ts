// The file of an evaluation: what was played, how each episode ended, and the figures made of that. It holds all that a
// comparison needs, so that the two sides may come from different machines. Shares lie in [0, 1], times are in seconds,
// costs in US dollars; what is not known is null, never 0.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TabwrightError, type JsonObject } from '../core/index.ts';
import { readVersioned, stamp, type VersionedFormat } from '../store/index.ts';

const count = z.int().nonnegative();
const share = z.number().min(0).max(1);
const interval = z.tuple([z.number(), z.number()]);
const money = z.number().nonnegative().nullable();

/** What one episode of a task at a seed came to. */
const episodeSchema = z.strictObject({
  /** The environment's own name of the task; with `seed` it names the instance. */
  task: z.string(),
  group: z.string(),
  split: z.enum(['train', 'test']).nullable(),
  seed: z.int(),
  /** 0-based; several tries at one instance differ in this alone. */
  sample: count,
  result: z.enum(['success', 'failure', 'invalid']),
  reward: z.number().nullable(),
  stop: z.string().nullable(),
  /** Of an invalid one: whose contract broke. */
  failure: z.strictObject({ boundary: z.string(), code: z.string(), message: z.string() }).nullable(),
  actions: count,
  promptTokens: count.nullable(),
  completionTokens: count.nullable(),
  /** Of the model that plays. */
  cost: money,
  seconds: z.number().nonnegative(),
});

const judgeSchema = z.strictObject({
  id: z.string(),
  kind: z.string(),
  model: z.string(),
  promptHash: z.string(),
  /** Over the episodes that were judged. */
  calls: count,
  promptTokens: count,
  completionTokens: count,
  cost: money,
});

/** Of one task, or of all. */
export const figuresSchema = z.strictObject({
  episodes: count,
  valid: count,
  invalid: count,
  successes: count,
  /** Over the valid episodes. */
  success: share.nullable(),
  /** Wilson's, 95 %, of the valid episodes as if each told something of its own. */
  wilson: interval,
  /** If every invalid episode had failed, and if every one had succeeded. */
  bounds: interval,
  /** Of the valid episodes. */
  rewardMean: z.number().nullable(),
  actionsMean: z.number().nullable(),
  secondsMean: z.number().nullable(),
  /** Of all episodes. */
  promptTokens: count.nullable(),
  completionTokens: count.nullable(),
  cost: money,
});

const clusterSchema = z.strictObject({
  /** Whose episodes depend on each other: of an instance, of a task, or of a group of tasks that look or work alike. */
  unit: z.enum(['instance', 'task', 'group']),
  clusters: count,
  /** 95 %, bootstrap over whole clusters; Wilson's with one trial a cluster where all clusters are alike. */
  interval,
  method: z.enum(['cluster bootstrap', 'wilson over clusters']),
});

const passSchema = z.strictObject({
  k: z.int().positive(),
  /** Mean of the unbiased estimates over the instances with at least k valid samples. */
  pass: share,
  instances: count,
  /** Instances left out because invalid episodes leave them fewer samples. */
  dropped: count,
});

const summarySchema = figuresSchema.extend({
  tasks: count,
  /** Where several episodes belong together: then this interval, not Wilson's, is the one to quote. */
  clustered: clusterSchema.nullable(),
  /** For each k up to the number of samples. */
  passAtK: z.array(passSchema),
  /** Invalid episodes by `boundary/code`. */
  failures: z.record(z.string(), count),
  /** From start to end; null where the evaluation was gone on with. */
  wallSeconds: z.number().nonnegative().nullable(),
});

export const evaluationSchema = z.strictObject({
  model: z.string().min(1),
  /** Of models that sample tokens here. */
  renderer: z.string().nullable(),
  environment: z.strictObject({
    name: z.string(),
    version: z.string(),
    split: z.enum(['train', 'test', 'all']),
    /** The numbers of an episode, and where it was played. */
    settings: z.record(z.string(), z.json()),
  }),
  /** Who said what is a success: `code`, `nobody`, or a judge's id. */
  reward: z.string().min(1),
  judge: judgeSchema.nullable(),
  sampling: z.strictObject({ seed: z.int(), temperature: z.number(), samples: z.int().positive() }),
  /** When it was complete, ISO 8601 in UTC. */
  date: z.string(),
  commit: z.string().nullable(),
  versions: z.record(z.string(), z.string()),
  summary: summarySchema,
  byTask: z.array(figuresSchema.extend({ task: z.string(), group: z.string() })),
  episodes: z.array(episodeSchema).min(1),
});

export type Evaluation = z.infer<typeof evaluationSchema>;
export type EvaluatedEpisode = z.infer<typeof episodeSchema>;
export type EvaluationFigures = z.infer<typeof figuresSchema>;
export type EvaluationSummary = z.infer<typeof summarySchema>;

const format: VersionedFormat<Evaluation> = { name: 'tabwright-evaluation', upgraders: [], schema: evaluationSchema };

/** With its format and version in front. */
export function stampEvaluation(evaluation: Evaluation): JsonObject {
  return stamp(format as VersionedFormat<JsonObject>, evaluationSchema.parse(evaluation) as JsonObject);
}

/** From a file, or from the run folder that `tabwright eval` left. */
export async function readEvaluation(given: string): Promise<Evaluation> {
  const isFolder = await stat(given).then(
    (entry) => entry.isDirectory(),
    () => false, // said below
  );
  const path = isFolder ? join(given, 'evaluation.json') : given;
  const refuse = (problem: string, cause: unknown): TabwrightError =>
    new TabwrightError('config', `${path} ${problem}`, { code: 'evaluation-unreadable', details: { path }, cause });
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw refuse(`cannot be read: ${(error as Error).message}`, error);
  }
  let value: JsonObject;
  try {
    value = JSON.parse(text) as JsonObject;
  } catch (error) {
    throw refuse('is not JSON: give a file that `tabwright eval --output` wrote.', error);
  }
  return readVersioned(format, value, path);
}
