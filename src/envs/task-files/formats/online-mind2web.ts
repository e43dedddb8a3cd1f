// Online-Mind2Web: {"task_id", "website", "task_description", "reference_length", "level"?} on live sites, judged by a
// model (WebJudge). Its files are gated and are brought along by whoever has them.

import { z } from 'zod';
import { NO_NEEDS } from '../loaded-task.ts';
import { address, filled, rowId, rowReader, siteOf, type Format } from './format.ts';

const schema = z
  .looseObject({
    task_id: rowId,
    website: address,
    task_description: filled.optional(),
    /** The name of the same field in its earlier files. */
    confirmed_task: filled.optional(),
    reference_length: z.int().nonnegative(),
    level: z.enum(['easy', 'medium', 'hard']).optional(),
  })
  .superRefine((row, context) => {
    if (row.task_description !== undefined || row.confirmed_task !== undefined) return;
    context.addIssue({ code: 'custom', path: ['task_description'], message: 'is missing: what is to be done' });
  });

export const onlineMind2webFormat: Format = {
  name: 'online-mind2web',
  claims: (row) => 'website' in row && ('task_description' in row || 'confirmed_task' in row),
  read: rowReader(schema, ({ task_id, website, task_description, confirmed_task = '' }) => ({
    id: task_id,
    startUrls: [website],
    instruction: task_description ?? confirmed_task,
    sites: [siteOf(website)],
    needs: NO_NEEDS,
    checks: [{ kind: 'judged', question: { about: 'outcome', references: [], note: '' } }],
  })),
};
