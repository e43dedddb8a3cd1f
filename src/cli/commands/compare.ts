// `tabwright compare`: whether one evaluation is better than another, on the instances that both played.

import { z } from 'zod';
import { asJson, TabwrightError } from '../../core/index.ts';
import { compareEvaluations, readEvaluation } from '../../experiments/index.ts';
import { comparisonSummary } from '../comparison-summary.ts';
import type { CommandSpec } from '../run-command.ts';
import { writeOutput } from '../write-output.ts';

const schema = z.strictObject({
  noise: z
    .string()
    .min(1)
    .optional()
    .describe(
      'an evaluation of one of the two policies once more, with another --seed: how far it differs from itself',
    ),
  seed: z.int().nonnegative().default(1).describe('of the bootstrap and the permutations'),
  output: z.string().min(1).optional().describe('also write the comparison there'),
});

export const compare: CommandSpec<typeof schema> = {
  name: 'compare',
  summary:
    'Compare two evaluations instance by instance: is the difference more than chance, noise and broken episodes?',
  examples: [
    'compare base.json trained.json',
    'compare runs/base runs/trained --noise runs/base-again',
    'compare base.json trained.json --json',
  ],
  schema,
  operands: {
    name: '<evaluations...>',
    description: 'two files of `tabwright eval --output`, or its run folders: the baseline first',
  },
  flags: [],
  async action({ config, operands, print }) {
    const [first, second] = operands;
    if (operands.length !== 2) {
      throw new TabwrightError('config', `compare takes two evaluations, not ${operands.length}.`, {
        code: 'two-evaluations',
      });
    }
    const [a, b] = [await readEvaluation(first), await readEvaluation(second)];
    const noise = config.noise === undefined ? undefined : await readEvaluation(config.noise);
    const comparison = compareEvaluations({ a, b, noise, seed: config.seed });
    const data = asJson({
      environment: { name: a.environment.name, version: a.environment.version },
      reward: a.reward,
      a: { model: a.model, date: a.date },
      b: { model: b.model, date: b.date },
      ...comparison,
    });
    if (config.output !== undefined) await writeOutput(config.output, { version: 1, ...data });
    print(comparisonSummary({ a, b, comparison }), data);
  },
};
