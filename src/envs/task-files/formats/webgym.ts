// WebGym: JSON Lines with a rubric of fact groups, live sites, judged by a model: every fact, and that the answer is
// borne out by what was seen.

import { z } from 'zod';
import { NO_NEEDS } from '../loaded-task.ts';
import { address, filled, rowId, rowReader, siteOf, type Format } from './format.ts';

const schema = z.looseObject({
  benchmark_name: filled.optional(),
  task_name: filled,
  website: address,
  definite_answer: z.string().nullish(),
  task_id: rowId,
  difficulty: z.number().nonnegative(),
  evaluator_reference: z
    .array(
      z.looseObject({
        id: rowId,
        description: z.string().default(''),
        facts: z.array(filled).min(1, 'must hold a fact: a group without facts is met by anything'),
      }),
    )
    .min(1, 'must hold a group of facts: a rubric without one is met by anything'),
});

export const webgymFormat: Format = {
  name: 'webgym',
  claims: (row) => 'evaluator_reference' in row && 'task_name' in row,
  read: rowReader(schema, ({ task_id, website, task_name, benchmark_name, definite_answer, evaluator_reference }) => ({
    id: task_id,
    startUrls: [website],
    instruction: task_name,
    ...(benchmark_name === undefined ? {} : { split: benchmark_name }),
    sites: [siteOf(website)],
    needs: NO_NEEDS,
    checks: [
      {
        kind: 'judged',
        question: {
          about: 'facts',
          groups: evaluator_reference.map(({ id, description, facts }) => ({ id, description, facts })),
          answer: definite_answer ?? '',
        },
      },
    ],
  })),
};
