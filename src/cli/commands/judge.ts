// `tabwright judge`: the episodes of a finished run judged by a model, and how far it agrees with what the run says of them.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import type { RubricGroup } from '../../judges/index.ts';
import { readRun } from '../../store/index.ts';
import { judgeSettings, openJudge } from '../judge-option.ts';
import { describeJudgedRun, judgedRunJson, judgeRun, type JudgedRun } from '../judge-run.ts';
import type { CommandSpec } from '../run-command.ts';
import { writeOutput } from '../write-output.ts';

const schema = z.strictObject({
  rollouts: z.string().min(1).optional().describe('files of episodes, comma-separated (default: all)'),
  output: z.string().min(1).optional().describe('file for figures and every verdict, JSON'),
  criteria: z.string().min(1).optional().describe("text file with criteria in place of the judge's own"),
  rubrics: z.string().min(1).optional().describe('JSON file with a rubric for each task id, for --reward rubric'),
  ...judgeSettings,
  reward: z.enum(['webjudge', 'rubric', 'outcome']).default('webjudge').describe('which judge'),
});

const rubricsSchema = z.record(
  z.string(),
  z.array(z.strictObject({ id: z.string(), description: z.string(), facts: z.array(z.string()).min(1) })),
);

export const judge: CommandSpec<typeof schema> = {
  name: 'judge',
  summary: 'Judge the episodes of a finished run with a model, and compare its verdicts with those of the run.',
  examples: [
    'judge runs/eval --judge-model openai/o4-mini',
    'judge runs/eval --reward outcome --judge-model my-model --judge-base-url http://127.0.0.1:8000/v1 --judge-pictures 0',
  ],
  schema,
  flags: [],
  operands: { name: '<run>', description: 'run folder whose episodes are judged; it is not changed' },
  async action({ config, operands: [folder], listener, signal, print }) {
    const { output, rollouts, judgeParallel } = config;
    const run = await readRun(folder);
    const opened = await openJudge(config);
    if (opened === undefined) throw new TabwrightError('config', 'There is no judge.', { code: 'no-judge' });
    const criteria = config.criteria === undefined ? undefined : await readText(config.criteria);
    const rubrics = config.rubrics === undefined ? undefined : await readRubrics(config.rubrics);
    const stage = 'judge';
    const start = performance.now();
    const judged = await judgeRun({
      run,
      judge: opened,
      ...(rollouts === undefined ? {} : { rollouts: rollouts.split(',').map((name) => name.trim()) }),
      ...(judgeParallel === undefined ? {} : { parallel: judgeParallel }),
      criteria,
      ...(rubrics === undefined ? {} : { rubrics }),
      onJudged({ done, total, successes, invalid }) {
        if (done === 1)
          listener({ kind: 'stage-start', stage, title: `Judging by ${opened.id}`, total, unit: 'episodes' });
        listener({ kind: 'episode-end', stage, done, total, successes, invalid });
      },
      signal,
    });
    listener({
      kind: 'stage-end',
      stage,
      seconds: (performance.now() - start) / 1000,
      summary: `${judged.episodes.length} episodes`,
    });
    const json = judgedRunJson(judged, opened);
    if (output !== undefined) await writeOutput(output, json);
    const { episodes: _, ...figures } = json;
    print(describeJudgedRun(judged, opened), { ...figures, output: output ?? null });
    const nothing = noVerdict(judged);
    if (nothing !== undefined) throw nothing;
  },
};

/** A run of which no episode got a verdict says nothing: its end is a failure, whatever was written. */
function noVerdict({ episodes }: JudgedRun): TabwrightError | undefined {
  const [first] = episodes;
  if (first === undefined) {
    return new TabwrightError('config', 'Nothing was judged: no episode of the run has an end to judge.', {
      code: 'nothing-to-judge',
    });
  }
  if (first.judgement.verdict !== 'invalid') return undefined;
  if (episodes.some(({ judgement }) => judgement.verdict !== 'invalid')) return undefined;
  const { code, reason } = first.judgement;
  return new TabwrightError(
    'judge',
    `None of ${episodes.length} episodes got a verdict. The first: ${code}: ${reason}`,
    { code: 'no-verdicts' },
  );
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new TabwrightError('config', `${path} cannot be read: ${(error as Error).message}`, {
      code: 'file-unreadable',
      cause: error,
    });
  }
}

async function readRubrics(path: string): Promise<ReadonlyMap<string, readonly RubricGroup[]>> {
  const text = await readText(path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw badRubrics(path, (error as Error).message);
  }
  const parsed = rubricsSchema.safeParse(value);
  if (parsed.success) return new Map(Object.entries(parsed.data));
  const [issue] = parsed.error.issues;
  throw badRubrics(path, `${issue.path.join('.')}: ${issue.message}`);
}

function badRubrics(path: string, problem: string): TabwrightError {
  return new TabwrightError('config', `${path} is no file of rubrics by task id: ${problem}`, { code: 'bad-rubrics' });
}
