// click-checkboxes in a real Chromium: how episodes begin, go on and end.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Action, Episode, StepResult } from '../../src/core/index.ts';
import {
  createClickCheckboxesEnv,
  createPuzzle,
  oracleTarget,
  submitTarget,
  type ClickCheckboxesEnv,
} from '../../src/envs/index.ts';
import { NEVER } from './browsers-under-test.ts';

let env: ClickCheckboxesEnv;
beforeAll(async () => {
  env = await createClickCheckboxesEnv({ pages: 16 });
});
afterAll(() => env[Symbol.asyncDispose]());

const SEED = 0; // five boxes, wanted: the first, third and fourth
const click = (target: number): Action => ({ kind: 'call', tool: 'click', args: { target } });
const open = (seed = SEED): Promise<Episode> => env.open(env.task(seed), { signal: NEVER });
const step = (episode: Episode, action: Action): Promise<StepResult> => episode.step(action, { signal: NEVER });

async function playOracle(seed: number): Promise<StepResult> {
  await using episode = await open(seed);
  for (let page = episode.first.page; ;) {
    const result = await step(episode, click(oracleTarget(createPuzzle(seed), page)));
    if (result.outcome !== undefined) return result;
    page = result.observation.page;
  }
}

test('the agent sees one line a control, and neither the instruction nor which boxes count', async () => {
  await using episode = await open();
  expect(env.task(SEED)).toMatchObject({
    id: 'click-checkboxes/0',
    instruction: 'Select wp4g, J7nZW, rDHc and click Submit.',
  });
  expect(episode.first.page.split('\n')).toEqual([
    'checkbox "wp4g" [1]',
    'checkbox "GX" [2]',
    'checkbox "J7nZW" [3]',
    'checkbox "rDHc" [4]',
    'checkbox "quc8I" [5]',
    'button "Submit" [6]',
  ]);
});

test('a click toggles its box, keeps the references, and says what it did', async () => {
  await using episode = await open();
  const on = await step(episode, click(2));
  expect(on.observation).toEqual({ page: episode.first.page.replace('"GX"', '"GX" [checked]') });
  expect(on).toMatchObject({
    changed: true,
    info: {
      tool: 'click',
      target: 2,
      role: 'checkbox',
      name: 'GX',
      wanted: false,
      checkedBefore: false,
      effect: 'toggled-on',
    },
  });
  const off = await step(episode, click(2));
  expect(off.observation.page).toBe(episode.first.page);
  expect(off.info).toMatchObject({ checkedBefore: true, effect: 'toggled-off' });
});

test('submitting scores what was checked at that moment, exactly and in part', async () => {
  await using episode = await open();
  await step(episode, click(1));
  await step(episode, click(2));
  const { outcome, info } = await step(episode, click(6));
  expect(info).toMatchObject({ role: 'button', name: 'Submit', effect: 'submitted' });
  expect(outcome).toEqual({
    kind: 'finished',
    success: false,
    reward: (5 - 2 * 3) / 5,
    stop: 'submitted',
    details: { boxes: 5, wanted: 3, wrong: 3, missing: 2, extra: 1, actions: 3 },
  });
  await expect(step(episode, click(1))).rejects.toMatchObject({ boundary: 'env', code: 'episode-over' });
});

test('an action that cannot be carried out is answered, counts, and changes nothing', async () => {
  await using episode = await open();
  const result = await step(episode, click(99));
  expect(result.observation).toEqual({
    page: episode.first.page,
    notice: 'There is no control 99; the page has 1, 2, 3, 4, 5, 6.',
  });
  expect(result).toMatchObject({ changed: false, info: { tool: 'click', target: 99, effect: 'error' } });
  for (let action = 2; action < 10; action++) {
    const malformed: Action = { kind: 'malformed', problem: 'empty', text: '' };
    expect((await step(episode, malformed)).outcome).toBeUndefined();
  }
  expect((await step(episode, { kind: 'call', tool: 'type', args: {} })).outcome).toEqual({
    kind: 'finished',
    success: false,
    reward: -1,
    stop: 'max_actions',
    details: { boxes: 5, wanted: 3, wrong: 3, missing: 3, extra: 0, actions: 10 },
  });
});

test('right boxes without Submit are no success when the actions run out', async () => {
  await using episode = await open();
  for (const target of [1, 3, 4, 2, 2, 2, 2, 2]) await step(episode, click(target));
  await step(episode, click(2));
  const { outcome } = await step(episode, click(2));
  expect(outcome).toMatchObject({ success: false, reward: -1, stop: 'max_actions', details: { actions: 10 } });
});

test.each([4, 16])(
  '%i pages at once do not hang, and the oracle is right on every one',
  async (pages) => {
    const results = await Promise.all(Array.from({ length: 2 * pages }, (_, seed) => playOracle(seed)));
    expect(results.every(({ outcome }) => outcome?.success)).toBe(true);
  },
  60_000,
);

test('submitting at once is right on exactly the puzzles where nothing is wanted', async () => {
  const seeds = Array.from({ length: 60 }, (_, seed) => seed);
  const right = await Promise.all(
    seeds.map(async (seed) => {
      await using episode = await open(seed);
      return (await step(episode, click(submitTarget(episode.first.page)))).outcome?.success;
    }),
  );
  expect(right).toEqual(seeds.map((seed) => createPuzzle(seed).wanted.every((want) => !want)));
}, 60_000);

test('a picture shows what was just clicked', async () => {
  await using episode = await open();
  const before = Buffer.from(await episode.screenshot({ signal: NEVER }));
  const again = Buffer.from(await episode.screenshot({ signal: NEVER }));
  await step(episode, click(1));
  const after = Buffer.from(await episode.screenshot({ signal: NEVER }));
  expect(before.subarray(1, 4).toString()).toBe('PNG');
  expect([before.readUInt32BE(16), before.readUInt32BE(20)]).toEqual([332, 214]); // IHDR width and height
  expect(again.equals(before)).toBe(true);
  expect(after.equals(before)).toBe(false);
});

test('BrowserGym’s way of writing a line is an option and changes nothing else', async () => {
  await using other = await createClickCheckboxesEnv({ pages: 1, style: 'bid-first' });
  await using episode = await other.open(other.task(SEED), { signal: NEVER });
  const { observation } = await step(episode, click(1));
  expect(observation.page.split('\n').slice(0, 2)).toEqual([
    "[1] checkbox 'wp4g', checked='true'",
    "[2] checkbox 'GX'",
  ]);
});

test('a task of another environment is refused', async () => {
  const task = { ...env.task(1), env: 'click-dialog' };
  await expect(env.open(task, { signal: NEVER })).rejects.toMatchObject({ boundary: 'env', code: 'wrong-env' });
});
