// REAL: one JSON object a task, sites with a page /finish that shows their state's difference. Checks are JMESPath
// queries over that state, or a rubric for a judge; the Python scripts of its second version are not run here.

import { search } from 'jmespath';
import { z } from 'zod';
import { NO_NEEDS, type Check } from '../loaded-task.ts';
import { address, filled, rowReader, type Format } from './format.ts';

const query = filled.refine((text) => {
  try {
    search({}, text);
    return true;
  } catch (error) {
    // A function that does not take what is not there: that is of this empty state, not of the query.
    return (error as Error).message.startsWith('TypeError: ');
  }
}, 'is no JMESPath expression');

const website = z.looseObject({ id: filled, url: address });
const finishOf = (url: string): string => `${url.replace(/\/+$/u, '')}/finish`;

const stateCheck = z.looseObject({ type: z.literal('jmespath'), query, expected_value: z.json() });
const rubricCheck = z.looseObject({ type: z.literal('llm_boolean'), rubric: filled, expected_value: z.boolean() });
const scriptCheck = z.looseObject({ type: z.literal('script').optional(), script: filled });

const schema = z.looseObject({
  id: filled,
  goal: filled,
  website,
  possible: z.boolean(),
  evals: z
    .array(
      z.looseObject({ type: z.string().optional() }).transform((one, context): ((stateUrl: string) => Check) => {
        const fits = <T extends z.ZodType>(kind: T): z.output<T> | undefined => {
          const parsed = kind.safeParse(one);
          if (parsed.success) return parsed.data;
          for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path, message });
          return undefined;
        };
        const never = (): Check => ({ kind: 'unsupported', evaluator: '', reason: '' });
        if (one.type === 'jmespath') {
          const check = fits(stateCheck);
          if (check === undefined) return never;
          return (stateUrl) => ({ kind: 'state', query: check.query, expected: check.expected_value, stateUrl });
        }
        if (one.type === 'llm_boolean') {
          const check = fits(rubricCheck);
          if (check === undefined) return never;
          const { rubric, expected_value: expected } = check;
          return () => ({ kind: 'judged', question: { about: 'rubric', rubric, expected } });
        }
        const check = fits(scriptCheck);
        const reason = 'it is a Python program of the benchmark, and none is run here';
        return () => ({ kind: 'unsupported', evaluator: `script:${check?.script ?? ''}`, reason });
      }),
    )
    .min(1, 'must hold a check: a task without one is done by doing nothing'),
});

export const realFormat: Format = {
  name: 'real',
  claims: (row) => 'goal' in row && 'evals' in row && 'website' in row,
  read: rowReader(schema, ({ id, goal, website: { id: site, url }, evals }) => ({
    id,
    startUrls: [url],
    instruction: goal,
    sites: [site],
    needs: {
      ...NO_NEEDS,
      setupUrls: [`${url.replace(/\/+$/u, '')}/config?run_id=0&task_id=${encodeURIComponent(id)}&latency=0`],
    },
    checks: evals.map((check) => check(finishOf(url))),
  })),
};
