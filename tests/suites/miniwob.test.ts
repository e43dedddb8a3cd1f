// MiniWoB++'s real pages in a real Chromium: what the agent is told and sees, what its hands do, how episodes end.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FinishedOutcome, JsonObject, StepResult } from '../../src/core/index.ts';
import {
  createMiniwobSuite,
  MINIWOB_ORACLES,
  MINIWOB_TASKS,
  playOracle,
  type MiniwobEpisode,
  type MiniwobSuite,
} from '../../src/envs/index.ts';
import { miniwobPages } from './miniwob-pages.ts';

const pages = await miniwobPages();
const missing = 'missing' in pages ? pages.missing : undefined;
const { signal } = new AbortController();
const at = { signal };

test.skipIf(missing === undefined)(`the pages are here (${missing ?? ''})`, () => undefined);

describe.skipIf(missing !== undefined)('MiniWoB++', () => {
  let suite: MiniwobSuite;
  beforeAll(async () => {
    if ('content' in pages) suite = await createMiniwobSuite({ content: pages.content, pages: 2 });
  });
  afterAll(() => suite?.[Symbol.asyncDispose]());

  const open = (task: string, seed = 0): Promise<MiniwobEpisode> => {
    const env = suite.env([task]);
    return env.open(env.task(seed), at);
  };
  const step = (episode: MiniwobEpisode, tool: string, args: JsonObject): Promise<StepResult> =>
    episode.step({ kind: 'call', tool, args }, at);
  const lineOf = (page: string, start: string): number => {
    const line = page.split('\n').find((candidate) => candidate.startsWith(start));
    return Number(/\[(\d+)\]$/.exec(line ?? '')?.[1]);
  };
  const oracle = async (task: string, seed: number): Promise<FinishedOutcome | undefined> => {
    await using episode = await open(task, seed);
    return (await playOracle(MINIWOB_ORACLES[task], episode, { seed, signal })).outcome;
  };

  // As Farama's own package words them for seed 0.
  test.each([
    ['ascending-numbers', 'Click on the numbers in ascending order.'],
    ['book-flight', 'Book the cheapest one-way flight from: Anvik, AK to: MOT on 12/23/2016.'],
    ['choose-date-easy', 'Select 12/02/2016 as the date and hit submit.'],
    ['choose-list', 'Select Helli from the list and click Submit.'],
    ['click-collapsible-2', 'Expand the sections below, to find and click on the link "aliquet".'],
  ])('a seed is the page’s own: %s', async (task, words) => {
    await using episode = await open(task);
    expect(episode.utterance).toBe(words);
    expect(episode.instruction).toBe(words);
  });

  test('words and fields come apart where the page gives both', async () => {
    await using episode = await open('email-inbox-forward-nl');
    expect(episode.fields).toEqual({ by: expect.any(String) as string, to: expect.any(String) as string });
    for (const name of Object.values(episode.fields!)) expect(episode.instruction).toContain(name);
  });

  test('a colour or an icon in the words is put into words', async () => {
    await using wheel = await open('use-colorwheel-2');
    expect(wheel.utterance).toBe('Select the following color with the color picker and hit Submit.');
    expect(wheel.instruction).toMatch(/the following color rgb\(\d+, \d+, \d+\) with/);
  });

  test('the agent sees lines with references, and neither the words nor the test bench', async () => {
    await using episode = await open('click-checkboxes');
    expect(episode.instruction).toBe('Select HF2 and click Submit.');
    expect(episode.first.page).toBe('checkbox "AU" [1]\ncheckbox "HF2" [2]\nbutton "Submit" [3]');
  });

  test('drawn shapes are told by kind, colour, centre and size', async () => {
    await using episode = await open('click-shape');
    const lines = episode.first.page.split('\n');
    expect(lines[0]).toBe('drawing "" [at 82,132] [size 160x160] [1]');
    const shape = /^(?:circle|rectangle|triangle) "\w+" \[at \d+,\d+\] \[size \d+x\d+\] \[\d+\]$/;
    const sign = /^text "\w" \[colour=\w+\] \[at \d+,\d+\] \[size \d+x\d+\] \[\d+\]$/;
    expect(lines.slice(1).every((line) => shape.test(line) || sign.test(line))).toBe(true);
    expect(lines.some((line) => shape.test(line)) && lines.some((line) => sign.test(line))).toBe(true);
  });

  test('numbers that a card hides are hidden', async () => {
    await using episode = await open('find-greatest');
    expect(episode.first.page).not.toMatch(/text/);
    const shown = await step(episode, 'click', { target: 1 });
    expect(shown.observation.page).toMatch(/^text "\d+"/);
  });

  test('input is trusted, whichever tool it comes from', async () => {
    await using episode = await open('login-user');
    await episode.truth.evaluate(
      `window.heard = []; for (const type of ['mousedown', 'click', 'keydown', 'input', 'mousemove'])
        addEventListener(type, (e) => heard.push(type + ':' + e.isTrusted), true); 0`,
      at,
    );
    const field = lineOf(episode.first.page, 'textbox');
    const filled = await step(episode, 'fill', { target: field, text: 'Ab_1é' });
    expect(filled.observation.page).toContain(`textbox "" [value="Ab_1é"] [${field}]`);
    const again = await step(episode, 'fill', { target: field, text: 'x' });
    expect(again.observation.page).toContain('[value="x"]');
    await step(episode, 'press', { keys: 'Tab' });
    const typed = await step(episode, 'type', { text: 'secret' });
    expect(typed.observation.page).toMatch(/\[value="x"\][^]*\[value="•{6}"\]/);
    const heard = (await episode.truth.evaluate('[...new Set(heard)]', at)) as readonly string[];
    expect([...heard].sort()).toEqual(['click:true', 'input:true', 'keydown:true', 'mousedown:true', 'mousemove:true']);
  });

  test('an option that is not there is answered with those that are', async () => {
    await using episode = await open('choose-list');
    const target = lineOf(episode.first.page, 'combobox');
    const { observation, outcome } = await step(episode, 'select', { target, options: ['Nobody'] });
    expect(observation.notice).toMatch(/There is no option "Nobody"; the options are ".*"Helli"/);
    expect(outcome).toBeUndefined();
  });

  test('success is exact: what is near enough elsewhere is not', async () => {
    await using episode = await open('use-colorwheel');
    const { outcome } = await step(episode, 'click', { target: lineOf(episode.first.page, 'button') });
    expect(outcome).toMatchObject({ kind: 'finished', success: false, stop: 'submitted', details: { lenient: true } });
  });

  test('a link with # does not spoil a right answer', async () => {
    expect(await oracle('search-engine', 0)).toMatchObject({ success: true, reward: 1, details: { leftPage: false } });
  });

  test('wrong actions end an episode by their number alone where they cannot fail', async () => {
    await using few = await createMiniwobSuite({
      content: (pages as { content: never }).content,
      pages: 1,
      maxActions: 3,
    });
    const env = few.env(['click-test']);
    await using episode = await env.open(env.task(0), at);
    const results = [];
    for (let i = 0; i < 3; i++) results.push(await step(episode, 'click_at', { x: 158, y: 208 }));
    expect(results.map(({ outcome }) => outcome?.kind)).toEqual([undefined, undefined, 'finished']);
    expect(results[2].outcome).toMatchObject({ success: false, reward: -1, stop: 'max_actions' });
  });

  test('leaving the page ends the episode without success, and the next has its page again', async () => {
    {
      await using episode = await open('click-link', 3);
      await episode.truth.evaluate(`setTimeout(() => location.assign('about:blank'), 0); 0`, at);
      const { outcome } = await step(episode, 'wait', { ms: 500 });
      expect(outcome).toMatchObject({ success: false, reward: -1, details: { leftPage: true } });
    }
    expect(await oracle('click-link', 3)).toMatchObject({ success: true });
  });

  test('the mouse is moved away before a problem where it was used, and stays where it is otherwise', async () => {
    await using one = await createMiniwobSuite({ content: (pages as { content: never }).content, pages: 1 });
    const env = one.env(['login-user']);
    const moves = async (act: boolean): Promise<unknown> => {
      await using episode = await env.open(env.task(0), at);
      const before = await episode.truth.evaluate('window.moves ?? 0', at);
      await episode.truth.evaluate(
        `window.moves = 0; if (!window.counted) addEventListener('mousemove', () => window.moves++, true); window.counted = true; 0`,
        at,
      );
      if (act) await step(episode, 'click', { target: lineOf(episode.first.page, 'textbox') });
      await episode.truth.evaluate('window.moves = 0; 0', at);
      return before;
    };
    await moves(false);
    expect(await moves(true)).toBe(0);
    expect(await moves(false)).toBe(1);
    expect(await moves(false)).toBe(0);
  });

  test('a picture that came with the look is the one that is asked for after it', async () => {
    const played = async (pictures: boolean): Promise<readonly string[]> => {
      await using own = await createMiniwobSuite({
        content: (pages as { content: never }).content,
        pages: 1,
        pictures,
      });
      const env = own.env(['click-checkboxes']);
      await using episode = await env.open(env.task(0), at);
      const shots = [await episode.screenshot(at), await episode.screenshot(at)];
      await step(episode, 'click', { target: 1 });
      shots.push(await episode.screenshot(at));
      return shots.map((shot) => Buffer.from(shot).toString('base64'));
    };
    const [withLooks, asked] = [await played(true), await played(false)];
    expect(withLooks).toEqual(asked);
    expect(withLooks[0]).toBe(withLooks[1]);
    expect(withLooks[2]).not.toBe(withLooks[1]);
  });

  test('seeds of several tasks name task and problem, the same each time, of one half only', () => {
    const env = suite.env('test');
    const tasks = Array.from({ length: 200 }, (_, seed) => env.task(seed));
    expect(tasks.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, seed) => env.task(seed).id));
    const names = new Set(tasks.map(({ params }) => params!.task as string));
    expect(names.size).toBeGreaterThan(40);
    for (const name of names) expect(MINIWOB_TASKS.find((task) => task.name === name)?.split).toBe('test');
  });

  test('a task of another environment is refused', async () => {
    const task = suite.env(['click-test']).task(0);
    await expect(suite.env(['click-link']).open(task, at)).rejects.toMatchObject({ code: 'wrong-env' });
  });
});
