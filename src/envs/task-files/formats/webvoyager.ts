// WebVoyager: JSON Lines {"web_name", "id", "ques", "web"} on live sites, judged by a model. Reference answers are in a
// file of their own, by site: {"Allrecipes": {"notice", "answers": [{"id", "type": "golden" | "possible", "ans"}]}}.

import { z } from 'zod';
import type { JsonObject } from '../../../core/index.ts';
import { NO_NEEDS } from '../loaded-task.ts';
import { address, filled, rowReader, siteOf, type Format } from './format.ts';

const schema = z.looseObject({ web_name: filled, id: filled, ques: filled, web: address });

const referencesSchema = z.looseObject({
  notice: z.string().default(''),
  answers: z.array(z.looseObject({ id: z.number(), type: z.enum(['golden', 'possible']), ans: z.string() })),
});

export const webvoyagerFormat: Format = {
  name: 'webvoyager',
  claims: (row) => 'web_name' in row && 'ques' in row && 'web' in row,
  read(row, context) {
    const known = rowReader(schema, ({ web_name, id, ques, web }) => ({
      id,
      startUrls: [web],
      instruction: ques,
      sites: [siteOf(web)],
      needs: NO_NEEDS,
      checks: [{ kind: 'judged', question: { about: 'outcome', ...referencesOf(web_name, id, context.references) } }],
    }));
    try {
      return known(row, context);
    } catch (error) {
      if (!(error instanceof z.ZodError)) throw error;
      const problem = `its site's reference answers cannot be read: ${error.issues[0].path.join('.')} ${error.issues[0].message}`;
      return { problems: [{ field: 'web_name', value: '', problem }] };
    }
  },
};

/** Ids end in `--` and the number that the answers go by. */
function referencesOf(site: string, id: string, file: JsonObject | undefined): { references: string[]; note: string } {
  const given = file?.[site];
  if (given === undefined) return { references: [], note: '' };
  const { notice, answers } = referencesSchema.parse(given);
  const number = Number(id.split('--').at(-1));
  return { references: answers.filter((answer) => answer.id === number).map(({ ans }) => ans), note: notice };
}
