// Our own format, JSON Lines: {"id", "url", "instruction", "group"?, "split"?, "answer"?, "criteria"?, "rubric"?}. Strict: other
// keys are errors. With `answer` the last reply must say exactly that, or one of several; without it a judge decides, by the
// task's criteria where it has some.

import { z } from 'zod';
import { NO_NEEDS } from '../loaded-task.ts';
import { address, filled, rowId, rowReader, siteOf, type Format } from './format.ts';

const schema = z.strictObject({
  id: rowId,
  url: address,
  instruction: filled,
  group: filled.optional(),
  split: filled.optional(),
  answer: z.union([filled, z.number().transform(String), z.array(filled).min(1)]).optional(),
  criteria: filled.optional(),
  rubric: z
    .array(z.strictObject({ id: rowId.optional(), description: z.string().default(''), facts: z.array(filled).min(1) }))
    .min(1)
    .transform((groups) => groups.map((group, i) => ({ ...group, id: group.id ?? String(i + 1) })))
    .optional(),
});

export const tabwrightFormat: Format = {
  name: 'tabwright',
  claims: (row) => 'url' in row && 'instruction' in row,
  read: rowReader(schema, ({ id, url, instruction, group, split, answer, criteria, rubric }) => ({
    id,
    startUrls: [url],
    instruction,
    ...(group === undefined ? {} : { group }),
    ...(split === undefined ? {} : { split }),
    sites: [siteOf(url)],
    needs: NO_NEEDS,
    ...(criteria === undefined ? {} : { criteria }),
    ...(rubric === undefined ? {} : { rubric }),
    checks: [
      answer === undefined
        ? { kind: 'judged', question: { about: 'outcome', references: [], note: '' } }
        : {
            kind: 'answer-text',
            rules: [
              Array.isArray(answer)
                ? { rule: 'one-of', values: answer, whole: true }
                : { rule: 'exact', value: answer },
            ],
          },
    ],
  })),
};
