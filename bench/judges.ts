// How good a judge is, against episodes whose outcome code has decided: precision, recall and false-positive rate with
// Wilson's intervals, what could not be judged, and the same by the way that an episode was spoilt. Makes the set of
// episodes (150 with the defaults, in browsers of this machine) unless it is there. Not a test: nothing fails here when a judge is bad.
// Usage: npx tsx bench/judges.ts --model openai/o4-mini [--base-url http://127.0.0.1:8000/v1] [--judge webjudge|outcome]
//   [--set runs/judge-set] [--suites shop,mail] [--tasks 10] [--pictures 50] [--prices 1.1,4.4] [--cache folder] [--plain-json] [--json file]
// Without --model only the set is made. --page docs/results/judges.md writes what is in it, and how far one gets without a judge.

import { writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { machineFacts } from '../src/cli/machine.ts';
import { openJudge } from '../src/cli/judge-option.ts';
import { describeJudgedRun, judgedRunJson, judgeRun } from '../src/cli/judge-run.ts';
import { readRun } from '../src/store/index.ts';
import { judgePage, readJudgeSet } from './judge-page.ts';
import { makeJudgeSet } from './judge-set.ts';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    'base-url': { type: 'string' },
    judge: { type: 'string', default: 'webjudge' },
    set: { type: 'string', default: 'runs/judge-set' },
    suites: { type: 'string' },
    tasks: { type: 'string', default: '10' },
    sessions: { type: 'string', default: '2' },
    pictures: { type: 'string' },
    prices: { type: 'string' },
    cache: { type: 'string' },
    'plain-json': { type: 'boolean', default: false },
    json: { type: 'string' },
    page: { type: 'string' },
    /** For the page: what else was going on. */
    note: { type: 'string', default: '' },
  },
});
const { signal } = new AbortController();

if (!existsSync(join(values.set, 'rollouts', 'solved.jsonl'))) {
  await makeJudgeSet({
    out: values.set,
    ...(values.suites === undefined ? {} : { suites: values.suites.split(',') }),
    tasks: Number(values.tasks),
    sessions: Number(values.sessions),
    onProgress: (line) => console.error(line),
    signal,
  });
}
if (values.page !== undefined) {
  const { processor, cores } = machineFacts();
  await writeFile(
    values.page,
    judgePage({
      episodes: await readJudgeSet(await readRun(values.set)),
      command: 'npx tsx bench/judges.ts',
      made: `${new Date().toISOString().slice(0, 10)}, ${cores} cores of ${processor}${values.note === '' ? '' : `; ${values.note}`}.`,
    }),
  );
}
if (values.model !== undefined) {
  const judge = await openJudge({
    reward: values.judge === 'outcome' ? 'outcome' : 'webjudge',
    judgeModel: values.model,
    judgeBaseUrl: values['base-url'],
    judgePictures: values.pictures === undefined ? undefined : Number(values.pictures),
    judgePrices: values.prices,
    judgeCache: values.cache,
    judgePlainJson: values['plain-json'],
  });
  const judged = await judgeRun({ run: await readRun(values.set), judge: judge!, signal });
  console.log(describeJudgedRun(judged, judge!));
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify(judgedRunJson(judged, judge!), null, 1)}\n`);
}
