// What counts for one task, in its own words: criteria and rubric travel with the task, so that whoever judges an episode,
// then or from its record later, goes by the same. In a task's `params`, which no policy is shown.

import { z } from 'zod';
import { asJson, type JsonObject, type Task } from '../../core/index.ts';
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

export function judgingOf({ params }: Pick<Task, 'params'>): TaskJudging {
  const judging = params?.['judging'];
  return judging === undefined ? {} : judgingSchema.parse(judging);
}
