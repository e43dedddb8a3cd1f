// Labelled episodes for judges, made in a real browser: labels are the grader's, and what a judge gets to see of them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeJudgeSet } from '../../bench/judge-set.ts';
import { judgeTrajectoryInput } from '../../src/envs/index.ts';
import { readRun } from '../../src/store/index.ts';
import { probe } from '../sandbox/jail.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-judge-set-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a task is solved, almost solved and lied about, and the grader knows which', { timeout: 600_000 }, async () => {
  const out = join(folder, 'set');
  const { signal } = new AbortController();
  const lines: string[] = [];
  const make = () =>
    makeJudgeSet({
      out,
      suites: ['forms'],
      tasks: 1,
      sessions: 1,
      unsafeLocal: !probe.available,
      onProgress: (line) => lines.push(line),
      signal,
    });
  await make();
  // What is missing is played, and nothing else.
  await rm(join(out, 'rollouts', 'lie.jsonl'));
  await make();
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'forms solved',
    'forms near-miss',
    'forms lie',
    'forms lie',
  ]);
  const run = await readRun(out);
  const one = async (name: string) => {
    const [trajectory] = await run.readAnyRollouts(name);
    const input = await judgeTrajectoryInput(trajectory, { readPicture: (file) => run.readScreenshot(file) });
    return { outcome: trajectory.outcome, input: input! };
  };
  const [solved, near, lie] = [await one('solved'), await one('near-miss'), await one('lie')];
  expect([solved, near, lie].map(({ outcome }) => outcome)).toMatchObject([
    { kind: 'finished', success: true },
    { kind: 'finished', success: false },
    { kind: 'finished', success: false },
  ]);
  const clicks = ({ input }: typeof solved): readonly string[] =>
    (input.actions ?? []).filter((line) => line.startsWith('click "button"'));
  expect([clicks(solved).length, clicks(near).length]).toEqual([1, 0]);
  expect(near.input.actions?.length).toBeGreaterThan(3);
  expect(lie.input).toMatchObject({ actions: [], answer: expect.stringContaining('I did everything') as string });
  expect(solved.input.pictures.length).toBeGreaterThan(0);
  expect(await run.readAnyRollouts('painted')).toEqual([]);
});
