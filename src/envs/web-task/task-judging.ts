// What counts for one task, in its own words: criteria and rubric travel with the task, so that whoever judges an episode,
// then or from its record later, goes by the same. In a task's `params`, which no policy is shown.

import { z } from 'zod';
import { asJson, TabwrightError, type JsonObject, type Task } from '../../core/index.ts';
import type { RubricGroup } from '../../judges/index.ts';

export type TaskJudging = {
  /** Instead of a judge's own criteria. */
  readonly criteria?: string | undefined;
  /** For rubric judges. */
  readonly rubric?: readonly RubricGroup[] | undefined;
};

const judgingSchema = z.object({
  criteria: z.string().optional(),
  rubric: z.array(z.object({ id: z.string(), description: z.string(), facts: z.array(z.string()) })).optional(),
});

/** For a task's `params`; empty where the task says nothing of it. */
export function judgingParams({ criteria, rubric }: TaskJudging): JsonObject {
  if (criteria === undefined && rubric === undefined) return {};
  return {
    judging: asJson({ ...(criteria === undefined ? {} : { criteria }), ...(rubric === undefined ? {} : { rubric }) }),
  };
}

export function judgingOf({ id, params }: Pick<Task, 'id' | 'params'>): TaskJudging {
  const judging = params?.['judging'];
  if (judging === undefined) return {};
  const { data, error } = judgingSchema.safeParse(judging);
  if (data !== undefined) return data;
  throw new TabwrightError(
    'store',
    `What the task ${id} says of judging cannot be read: ${z.prettifyError(error)}. The record was changed by hand or by another version.`,
    { code: 'task-judging-damaged', details: { id } },
  );
}
