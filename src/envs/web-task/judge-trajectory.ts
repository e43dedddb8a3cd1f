// A stored episode as material for a judge: the host's log and pictures that it kept, the answer as a claim. What cells
// wrote is in the episode too and stays out, because the one who is judged wrote it.

import { z } from 'zod';
import type { AnyTrajectory } from '../../core/index.ts';
import type { JudgeInput, RubricGroup } from '../../judges/index.ts';
import { judgeInput } from './judge-verifier.ts';
import { judgingOf } from './task-judging.ts';

const entrySchema = z.object({
  index: z.int(),
  cell: z.int(),
  helper: z.string(),
  effect: z.enum(['looks', 'acts']),
  subject: z.object({
    element: z.object({ role: z.string(), name: z.string() }).optional(),
    text: z.string().optional(),
    key: z.string().optional(),
    url: z.string().optional(),
    point: z.object({ x: z.number(), y: z.number() }).optional(),
    command: z.string().optional(),
    files: z.array(z.string()).optional(),
    tool: z.string().optional(),
  }),
  urlBefore: z.string(),
  urlAfter: z.string(),
  result: z.enum(['running', 'done', 'failed']),
});

const lastSchema = z.object({
  /** `null` where the host was somebody else's. */
  log: z.array(entrySchema).nullable(),
  omitted: z.object({ acts: z.int(), looks: z.int() }).optional(),
});

export type JudgeTrajectoryOptions = {
  /** The picture of that file name. */
  readonly readPicture: (fileName: string) => Promise<Uint8Array>;
  /** Instead of the task's own. */
  readonly criteria?: string | undefined;
  readonly rubric?: readonly RubricGroup[] | undefined;
};

/** Undefined for an episode that has no end to judge: one that broke off, or whose environment keeps no log. */
export async function judgeTrajectoryInput(
  { task, turns, outcome }: AnyTrajectory,
  { readPicture, criteria, rubric }: JudgeTrajectoryOptions,
): Promise<JudgeInput | undefined> {
  if (outcome.kind === 'invalid' && outcome.boundary !== 'judge') return undefined;
  const last = turns.at(-1);
  const kept = lastSchema.safeParse(last?.info);
  if (last === undefined || !kept.success) return undefined;
  const { log, omitted } = kept.data;
  const own = judgingOf(task);
  const answer = last.action.kind === 'answer' ? last.action.text : undefined;
  const names = turns.flatMap(({ evidence }) => (evidence === undefined ? [] : [evidence]));
  const pictures: Uint8Array[] = [];
  for (const name of names) pictures.push(await readPicture(name));
  return judgeInput({
    task,
    stop: outcome.kind === 'finished' ? outcome.stop : answer === undefined ? 'without an answer' : 'answered',
    answer,
    actions: log ?? undefined,
    pictures,
    omitted,
    criteria: criteria ?? own.criteria,
    rubric: rubric ?? own.rubric,
  });
}
