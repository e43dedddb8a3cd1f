import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { environmentSettings, type EnvironmentSettings } from './environment-settings.ts';
import { describeSuites, openEnvironment, readTasks } from './environments.ts';

const { signal } = new AbortController();
const NOWHERE = 'http://127.0.0.1:9/v1';
const open = (config: Partial<EnvironmentSettings>) =>
  openEnvironment({ config: { env: 'click-checkboxes', ...config }, signal });

test.each<[Partial<EnvironmentSettings>, RegExp]>([
  [{ env: 'chess' }, /--env chess: there is no such environment; there are click-checkboxes, miniwob/],
  [{ reward: 'webjudge' }, /--reward is for websites, not for click-checkboxes/],
  [{ pool: 'mine' }, /--pool is for websites, not for click-checkboxes/],
  [{ maxTurns: 3 }, /--max-turns is for websites, not for click-checkboxes/],
  [{ env: 'miniwob/no-such-task' }, /MiniWoB\+\+ has no task "no-such-task"/],
  [{ env: 'miniwob', sessions: 2 }, /--sessions is for websites, not for miniwob/],
  [{ env: 'forms', pages: 4 }, /--pages is for pages of one browser; forms has --sessions/],
  [{ env: 'forms', judgeModel: 'm' }, /--judge-model is for a judge/],
  [
    { env: 'forms', reward: 'rubric', judgeModel: 'm', judgeBaseUrl: NOWHERE },
    /--reward rubric is for tasks with a rubric, which (\d+) of \1 have not/,
  ],
  [{ env: 'tasks:no-such-file.jsonl' }, /no-such-file\.jsonl/],
  [{ env: 'math:no-such-file.jsonl' }, /no-such-file\.jsonl/],
])('%j is refused before anything is started', async (config, message) => {
  await expect(open(config)).rejects.toThrow(message);
});

it('a file of questions is an environment: version by content, an instance each, no browser', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'environments-'));
  try {
    const file = join(folder, 'math.jsonl');
    await writeFile(file, '{"question":"1+1?","answer":"2"}\n{"question":"2+2?","answer":"4"}\n');
    await using opened = await open({ env: `math:${file}`, sessions: 3 });
    expect(opened).toMatchObject({ isSeeded: false, reward: 'code', product: undefined, noted: { sessions: 3 } });
    expect(readTasks(opened, 'all').map(({ id }) => id)).toEqual(['math/0', 'math/1']);
    expect(() => readTasks(opened, 'forms:test')).toThrow(/forms:test names no tasks of math/);
    await writeFile(file, '{"question":"1+1?","answer":"3"}\n');
    await using other = await open({ env: `math:${file}` });
    expect(other.version).not.toBe(opened.version);
    await expect(open({ env: `math:${file}`, pool: 'mine' })).rejects.toThrow(/--pool is not for math:/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('a file whose every task needs a judge is refused without one, before anything is played', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'judged-tasks-'));
  try {
    const file = join(folder, 'tasks.jsonl');
    await writeFile(file, '{"id":"a","url":"http://127.0.0.1:9/","instruction":"Tidy up."}\n');
    await expect(open({ env: `tasks:${file}` })).rejects.toMatchObject({
      code: 'no-judge',
      message: expect.stringMatching(/Every task of .* needs a judge: name its model with --judge-model/) as string,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('a module of one’s own has its file as its version: other code does not compare', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'custom-environment-'));
  const code = `export const createEnv = () => ({ name: 'own', capacity: 1, maxActions: 1, task() {}, open() {},
    async [Symbol.asyncDispose]() {} });`;
  const versionOf = async (name: string, text: string): Promise<string> => {
    await writeFile(join(folder, name), text);
    await using opened = await open({ env: `custom:${join(folder, name)}` });
    return opened.version;
  };
  try {
    const version = await versionOf('one.mjs', code);
    expect(version).toMatch(/^[0-9a-f]{12}$/);
    expect(await versionOf('same.mjs', code)).toBe(version);
    expect(await versionOf('other.mjs', code.replace('maxActions: 1', 'maxActions: 2'))).not.toBe(version);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('the list of suites names each once, with halves that add up and figures that are shares', () => {
  const suites = describeSuites();
  expect(suites.map(({ name }) => name)).toEqual(['miniwob', 'agent_auth', 'forms', 'mail', 'shop', 'web_nav']);
  for (const { tasks, train, test: held, oracle, noop, blind } of suites) {
    expect(train + held).toBe(tasks);
    for (const share of [oracle, noop, blind]) if (share !== null) expect(share >= 0 && share <= 1).toBe(true);
  }
});

it('settings of environments have no defaults but the environment: whatever is given is heard', () => {
  for (const [name, schema] of Object.entries(environmentSettings)) {
    expect(schema.safeParse(undefined).data, name).toBe(name === 'env' ? 'click-checkboxes' : undefined);
  }
});
