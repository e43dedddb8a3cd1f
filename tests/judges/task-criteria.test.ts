// Criteria and rubric of a task's own: they reach the judge with the episode and again from its record, what the caller sets
// goes first, and the verdict names what was gone by.

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { AnyTrajectory, Task } from '../../src/core/index.ts';
import { judgeTrajectoryInput, judgeVerifier, webTask, type EpisodeEnd } from '../../src/envs/index.ts';
import { agentAuthTasks } from '../../src/envs/sites/agent-auth/suite.ts';
import { FORMS } from '../../src/envs/sites/forms/suite.ts';
import { siteTasks } from '../../src/envs/sites/kit/suite.ts';
import { MAIL } from '../../src/envs/sites/mail/suite.ts';
import { SHOP } from '../../src/envs/sites/shop/suite.ts';
import { WEB_NAV } from '../../src/envs/sites/web-nav/suite.ts';
import { modelOf, promptOf, questionOf, serveJudge } from '../../src/judges/fixtures/judge-server.ts';
import { createOutcomeJudge, createRubricJudge } from '../../src/judges/index.ts';

const { signal } = new AbortController();
const readPicture = (): Promise<Uint8Array> => Promise.reject(new Error('there are no pictures'));
const endOf = (task: Task): EpisodeEnd =>
  ({ task, stop: 'answered', answer: 'Done.', actions: [], pictures: [], session: {} }) as unknown as EpisodeEnd;
/** As it is read from disk. */
const recordOf = (task: Task): AnyTrajectory =>
  JSON.parse(
    JSON.stringify({
      task,
      turns: [{ action: { kind: 'answer', text: 'Done.' }, info: { log: [] } }],
      outcome: { kind: 'finished', success: true, reward: 1, stop: 'answered' },
    }),
  ) as AnyTrajectory;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

it('a task of a suite is judged by its own words, now and from its record', async () => {
  const [spec] = siteTasks(SHOP);
  const task = webTask(spec, { env: 'shop' });
  await using server = await serveJudge();
  const { details } = await judgeVerifier({ judge: createOutcomeJudge({ model: modelOf(server) }) })(endOf(task), {
    signal,
  });
  expect(spec.criteria).toContain('nothing else was changed there');
  expect(promptOf(server.asked[0])).toContain(`Criteria:\n${spec.criteria!}`);
  expect(details).toMatchObject({ judge: { criteria: { sha256: sha256(spec.criteria!) } } });
  expect(await judgeTrajectoryInput(recordOf(task), { readPicture })).toMatchObject({ criteria: spec.criteria });
});

it('every task of our suites has criteria, and they are no part of its words', () => {
  for (const spec of [...[FORMS, MAIL, SHOP, WEB_NAV].flatMap(siteTasks), ...agentAuthTasks()]) {
    const { instruction, params } = webTask(spec);
    expect(params).toEqual({ judging: { criteria: expect.stringMatching(/^The task is done if /) as unknown } });
    expect(instruction).toBe(spec.instruction);
  }
});

it('criteria of the caller go before those of the task, and without any the judge has its own', async () => {
  const task = webTask({ url: 'http://a.test/', instruction: 'Look.', criteria: 'The tea counts.' });
  await using server = await serveJudge();
  const judge = createOutcomeJudge({ model: modelOf(server) });
  const { details } = await judgeVerifier({ judge, criteria: () => 'The salt counts.' })(endOf(task), { signal });
  expect(details).toMatchObject({ judge: { criteria: { sha256: sha256('The salt counts.') } } });
  expect(promptOf(server.asked[0])).not.toContain('The tea counts.');
  expect(await judgeTrajectoryInput(recordOf(task), { readPicture, criteria: 'Salt.' })).toMatchObject({
    criteria: 'Salt.',
  });
  const plain = await judgeVerifier({ judge })(endOf(webTask({ url: 'http://a.test/', instruction: 'Look.' })), {
    signal,
  });
  expect(plain.details).not.toHaveProperty('judge.criteria');
});

it('a rubric of a task is what a rubric judge asks of it', async () => {
  const rubric = [{ id: 'tea', description: 'Tea', facts: ['Tea was ordered.', 'It was paid for.'] }];
  const task = webTask({ url: 'http://a.test/', instruction: 'Order tea.', rubric });
  await using server = await serveJudge({
    rubric_fact: { reasoning: 'It is said.', evidence: ['answer'], holds: true },
  });
  const judge = createRubricJudge({ model: modelOf(server) });
  const { success, details } = await judgeVerifier({ judge })(endOf(task), { signal });
  expect(success).toBe(true);
  expect(details).toMatchObject({ judge: { facts: [{ fact: 'Tea was ordered.' }, { fact: 'It was paid for.' }] } });
  expect(server.asked.filter((asked) => questionOf(asked) === 'rubric_fact').length).toBe(2);
  expect(await judgeTrajectoryInput(recordOf(task), { readPicture })).toMatchObject({ rubric });
});
