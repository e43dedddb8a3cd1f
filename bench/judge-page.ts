// The page on the set of labelled episodes: what is in it, by suite and by the way an episode was spoilt, and how far one
// gets without a judge. Reads the run folder and nothing else.

import { judgeTrajectoryInput } from '../src/envs/index.ts';
import { judgeFigures, type JudgedRow } from '../src/experiments/index.ts';
import type { JudgeInput } from '../src/judges/index.ts';
import type { ReadonlyRunFolder } from '../src/store/index.ts';
import { KINDS, VARIANTS, type Variant } from './judge-set.ts';
import { REFERENCE_JUDGES } from './reference-judges.ts';

export type SetEpisode = {
  readonly suite: string;
  readonly variant: Variant;
  /** By the suite's own grader, in code. */
  readonly label: boolean;
  readonly input: JudgeInput;
};

/** Pictures are left out: none of these judges looks at them. */
export async function readJudgeSet(run: ReadonlyRunFolder): Promise<readonly SetEpisode[]> {
  const episodes: SetEpisode[] = [];
  for (const variant of VARIANTS) {
    for (const trajectory of await run.readAnyRollouts(variant)) {
      const { task, outcome } = trajectory;
      const input = await judgeTrajectoryInput(trajectory, { readPicture: () => Promise.resolve(new Uint8Array()) });
      if (outcome.kind !== 'finished' || input === undefined) continue;
      episodes.push({ suite: task.env, variant, label: outcome.success, input });
    }
  }
  return episodes;
}

export type JudgePageOptions = {
  readonly episodes: readonly SetEpisode[];
  readonly command: string;
  /** When, where, under which load; a sentence. */
  readonly made: string;
};

export function judgePage({ episodes, command, made }: JudgePageOptions): string {
  const suites = [...new Set(episodes.map(({ suite }) => suite))];
  const successes = episodes.filter(({ label }) => label).length;
  const of = (suite: string | undefined, variant: Variant | undefined): readonly SetEpisode[] =>
    episodes.filter((one) => (suite ?? one.suite) === one.suite && (variant ?? one.variant) === one.variant);
  const cell = (some: readonly SetEpisode[]): string =>
    some.length === 0 ? '-' : `${some.length}, ${some.filter(({ label }) => label).length}`;
  const row = (name: string, suite: string | undefined): string =>
    `| ${[name, ...VARIANTS.map((variant) => cell(of(suite, variant))), cell(of(suite, undefined))].join(' | ')} |`;
  return `# Judges

**No judge has been measured here: no endpoint could be reached.** What there is: the set of labelled episodes that a judge is
measured on, and how far one gets on it without any. To measure one:

\`\`\`
npx tsx bench/judges.ts --model openai/o4-mini --cache runs/judge-cache --json judged.json
\`\`\`

with \`OPENROUTER_API_KEY\`, or \`--base-url\` for any other endpoint of OpenAI's kind; see [judges](../guide/judges.md). The tests let
\`tabwright serve\` judge, for the wiring alone: its small model's verdicts say nothing.

## The set

${episodes.length} episodes in a real Chromium on sites of our own, ${successes} successes and ${episodes.length - successes} failures. Every label is the verdict of
the suite's grader: for \`agent_auth\` the list and the requests that the server got, for the others the server's state and the answer.
No label is taken from what an episode was meant to be.

| episodes, successes among them | ${VARIANTS.join(' | ')} | all |
|---|${VARIANTS.map(() => '---').join('|')}|---|
${[...suites.map((suite) => row(`\`${suite}\``, suite)), row('all', undefined)].join('\n')}

${VARIANTS.map((variant) => `- \`${variant}\`: ${KINDS[variant]}`).join('\n')}

\`${command}\`, ${made}

## Without a judge

| goes by | precision | recall | false-positive rate | agreement |
|---|---|---|---|---|
${REFERENCE_JUDGES.map(({ name, goesBy, says }) => {
  const rows = episodes.map(({ label, input }): JudgedRow => ({ label, verdict: says(input) ? 'success' : 'failure' }));
  const { precision, recall, falsePositiveRate, agreement } = judgeFigures(rows);
  const rates = [precision, recall, falsePositiveRate, agreement].map(({ value, low, high }) =>
    value === null ? '-' : `${percent(value)} % (${percent(low)} to ${percent(high)})`,
  );
  return `| \`${name}\`: ${goesBy} | ${rates.join(' | ')} |`;
}).join('\n')}

Intervals are Wilson's at 95 %, over episodes. Of what each took for a success and was none, by kind:

| | ${VARIANTS.filter((variant) => variant !== 'solved').join(' | ')} |
|---|${VARIANTS.slice(1)
    .map(() => '---')
    .join('|')}|
${REFERENCE_JUDGES.map(({ name, says }) => {
  const fooled = VARIANTS.slice(1).map((variant) => {
    const failures = of(undefined, variant).filter(({ label }) => !label);
    return `${failures.filter(({ input }) => says(input)).length} of ${failures.length}`;
  });
  return `| \`${name}\` | ${fooled.join(' | ')} |`;
}).join('\n')}
`;
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}
