// What flags do before tasks of a file: commands of the user's, with deadline and clear failure, and signed-in states by site.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { loadTasks, parseRows, type LoadedTask } from '../../src/envs/index.ts';
import { runBefore } from '../../src/cli/before-command.ts';
import { prepareTasks } from '../../src/cli/task-file-preparation.ts';
import { isProcessAlive, spawnOwned } from '../../src/util/index.ts';

const { signal } = new AbortController();
let folder: string;
let tasks: readonly LoadedTask[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-before-'));
  const row = { id: 'one', url: 'https://shop.example/a', instruction: 'Look.', answer: 'x' };
  tasks = loadTasks(await parseRows('t', Buffer.from(JSON.stringify([row]))));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a command before tasks', () => {
  test('runs once, and before every task, which it is told of', async () => {
    const said = join(folder, 'said.txt');
    const before = `echo once >> ${said}`;
    const beforeEach = `echo "$TABWRIGHT_TASK $TABWRIGHT_SITES $TABWRIGHT_START_URL" >> ${said}`;
    const { reset } = await prepareTasks(tasks, { before, beforeEach }, signal);
    for (const task of [tasks[0], tasks[0]]) await reset!(task, { signal });
    const each = 'one shop.example https://shop.example/a';
    expect((await readFile(said, 'utf8')).trim().split('\n')).toEqual(['once', each, each]);
  });

  test('that fails says how, and none of its words; keys of this process do not reach it', async () => {
    vi.stubEnv('TABWRIGHT_TEST_SECRET', 'secret');
    onTestFinished(() => void vi.unstubAllEnvs());
    const said = join(folder, 'words.txt');
    const command = `printenv TABWRIGHT_TEST_SECRET > ${said}; echo hunter2; echo hunter2 >&2; exit 3`;
    const failure = await runBefore({ command, seconds: 60, env: {}, signal }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      boundary: 'env',
      code: 'before-failed',
      message:
        'The command before the task (printenv …) ended with 3. What it said is on the terminal, and kept nowhere.',
      details: { command: 'printenv', how: 'ended with 3' },
    });
    expect(await readFile(said, 'utf8')).toBe('');
  });

  test('says what it says on the terminal, and ends with a process that is killed', async () => {
    const started = join(folder, 'killed.txt');
    const module = new URL('../../src/cli/before-command.ts', import.meta.url).href;
    const command = `echo hunter2; sleep 600 & echo $! > ${started}; wait`;
    const script = `import { runBefore } from ${JSON.stringify(module)};
      await runBefore({ command: ${JSON.stringify(command)}, seconds: 600, env: {}, signal: new AbortController().signal });`;
    const host = spawnOwned({
      command: process.execPath,
      args: ['--import', 'tsx', '--input-type=module', '-e', script],
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => host.kill());
    let [out, err] = ['', ''];
    host.child.stdout!.on('data', (text: Buffer) => (out += text.toString()));
    host.child.stderr!.on('data', (text: Buffer) => (err += text.toString()));
    await expect.poll(() => readFile(started, 'utf8').catch(() => ''), { timeout: 60_000 }).toMatch(/\d\n/u);
    const pid = Number(await readFile(started, 'utf8'));
    expect([isProcessAlive(pid), out, err]).toEqual([true, '', 'hunter2\n']);
    process.kill(host.child.pid!, 'SIGKILL'); // itself alone, not its group
    await expect.poll(() => isProcessAlive(pid), { timeout: 20_000 }).toBe(false);
  });

  test('that does not end is ended, with everything that it started', async () => {
    const started = join(folder, 'started.txt');
    const command = `sleep 600 & echo $! > ${started}; sleep 600`;
    await expect(runBefore({ command, seconds: 3, env: {}, signal })).rejects.toThrow(/did not end within 3 s/);
    const pid = Number(await readFile(started, 'utf8'));
    await expect.poll(() => isProcessAlive(pid), { timeout: 20_000 }).toBe(false);
  });

  test('that brings a site back is refused where others play there meanwhile', async () => {
    const given = { beforeEach: 'true', sessions: 2 };
    await expect(prepareTasks(tasks, given, signal)).rejects.toThrow(/--before-each with --sessions 2/);
    await expect(prepareTasks(tasks, { beforeSeconds: 5 }, signal)).rejects.toThrow(/--before-seconds is for --before/);
  });
});

describe('signed-in states', () => {
  const write = async (name: string, value: unknown): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, JSON.stringify(value));
    return path;
  };

  test('are of a site, or of all; a site that no task has is a mistake', async () => {
    const cookie = { name: 'who', value: 'ann', domain: 'shop.example', path: '/' };
    const [one, all] = [await write('one.json', { cookies: [cookie] }), await write('all.json', { cookies: [cookie] })];
    const { states } = await prepareTasks(tasks, { storageState: `Shop.example=${one},${all}` }, signal);
    expect([...states!.keys()]).toEqual(['shop.example', '*']);
    expect(states!.get('*')!.cookies[0]).toMatchObject({ name: 'who', expires: -1 });
    const refused = (storageState: string) => prepareTasks(tasks, { storageState }, signal);
    await expect(refused(`gitlab=${one}`)).rejects.toThrow(/no task is on "gitlab"; their sites are shop\.example/);
    await expect(refused(join(folder, 'none.json'))).rejects.toThrow(/none\.json cannot be read/);
  });
});
