// Files of tasks in every format that is read: right rows, wrong rows told by row and field, sites filled in, and the two
// commands as a person runs them. Rows are written for the purpose.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, test } from 'vitest';
import { openRows } from '../../src/cli/task-source.ts';
import {
  findSites,
  loadTasks,
  mathProblems,
  parseRows,
  placeholdersOf,
  readRows,
  readTaskFile,
  withSites,
  type LoadedTask,
  type TaskFile,
  type TaskFormat,
} from '../../src/envs/index.ts';
import { runCli } from '../cli/run-cli.ts';
import * as rows from './task-file-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'task-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { signal } = new AbortController();

const read = async (text: string, options: Parameters<typeof readTaskFile>[1] = {}): Promise<TaskFile> =>
  readTaskFile(await parseRows('tasks.jsonl', Buffer.from(text)), options);
const one = async (row: object, options: Parameters<typeof readTaskFile>[1] = {}): Promise<LoadedTask> => {
  const { tasks, problems } = await read(JSON.stringify([row]), options);
  expect(problems).toEqual([]);
  return tasks[0].task;
};
/** `field: problem` of everything that is wrong with a row. */
const faults = async (row: object, format?: TaskFormat): Promise<string> =>
  (await read(JSON.stringify([row]), format === undefined ? {} : { format })).problems
    .map(({ field, problem }) => `${field}: ${problem}`)
    .join('\n');

describe('each format is told by its rows and read', () => {
  it.each<[TaskFormat, object]>([
    ['webarena', rows.WEBARENA],
    ['webarena-verified', rows.VERIFIED],
    ['webvoyager', rows.WEBVOYAGER],
    ['online-mind2web', rows.MIND2WEB],
    ['real', rows.REAL],
    ['webgym', rows.WEBGYM],
    ['agent-auth', rows.AGENT_AUTH],
    ['tabwright', rows.TABWRIGHT],
  ])('%s', async (format, row) => {
    expect(await read(JSON.stringify(row))).toMatchObject({ format, rows: 1, problems: [], tasks: [{}] });
    expect(await read(JSON.stringify([row]))).toMatchObject({ format, problems: [] });
  });

  it('WebArena: tabs, needs, and all three kinds of checks', async () => {
    const task = await one(rows.WEBARENA);
    expect(task).toMatchObject({
      id: '1001',
      startUrls: ['__SHOPPING__/lamps', '__SHOPPING__/cart'],
      instruction: 'Find the price of the green lamp',
      group: 'template-77',
      needs: { login: true, storageState: './.auth/shopping_state.json', reset: false },
    });
    expect(task.checks).toEqual([
      {
        kind: 'answer-text',
        rules: [{ rule: 'includes', values: [['24.50', 'twenty-four'], ['green']], words: false }],
      },
      { kind: 'final-url', references: ['__SHOPPING__/lamps/green', '__SHOPPING__/lamp?id=7'], rule: 'contained' },
      {
        kind: 'page-content',
        targets: [
          expect.objectContaining({ page: 'last', locator: "document.querySelector('h1').outerText" }),
          expect.objectContaining({ page: 'post-of-last', locator: '', prepare: ['window.scrollTo(0, 0)'] }),
          expect.objectContaining({ page: { url: '__SHOPPING__/cart' } }),
        ],
      },
    ]);
  });

  it('VisualWebArena: pictures, its own rule for addresses, and words as words', async () => {
    const { url_note: _, ...evaluation } = rows.WEBARENA.eval;
    const task = await one({ ...rows.WEBARENA, image: 'http://x.test/lamp.png', eval: evaluation });
    expect(task.needs.images).toEqual(['http://x.test/lamp.png']);
    expect(task.checks[0]).toMatchObject({ rules: [{ words: true }] });
    expect(task.checks[1]).toMatchObject({ rule: 'exact' });
    const pictures = { eval_types: ['page_image_query'], page_image_query: [{ eval_image_url: 'last' }] };
    expect((await one({ ...rows.WEBARENA, image: null, eval: pictures })).checks).toEqual([
      expect.objectContaining({ kind: 'unsupported', evaluator: 'page_image_query' }),
    ]);
    const rules = {
      ...rows.WEBARENA.eval,
      eval_types: ['string_match'],
      reference_answers: { required_values: ['>= 3 |OR| == 1', '< 9'] },
    };
    expect((await one({ ...rows.WEBARENA, image: null, eval: rules })).checks).toMatchObject([
      {
        rules: [
          {
            rule: 'numbers',
            values: [
              [
                { relation: '>=', value: 3 },
                { relation: '==', value: 1 },
              ],
              [{ relation: '<', value: 9 }],
            ],
          },
        ],
      },
    ]);
  });

  it('WebArena: helpers that ask a site’s own interface are named, not guessed at', async () => {
    const target = {
      url: 'func:shopping_get_latest_order_url()',
      locator: '',
      required_contents: { must_include: ['x'] },
    };
    const task = await one({ ...rows.WEBARENA, eval: { ...rows.WEBARENA.eval, program_html: [target] } });
    expect(task.checks.at(-1)).toMatchObject({ kind: 'unsupported', evaluator: 'func:shopping_get_latest_order_url' });
    const reading = { ...target, url: 'last', locator: `func:get_query_text(__page__, 'a[href="/x"]')` };
    const other = await one({ ...rows.WEBARENA, eval: { ...rows.WEBARENA.eval, program_html: [reading] } });
    expect(other.checks.at(-1)).toMatchObject({
      targets: [{ locator: 'document.querySelector("a[href=\\"/x\\"]").textContent' }],
    });
  });

  it('WebArena-Verified: typed answer and network', async () => {
    const { checks } = await one(rows.VERIFIED);
    expect(checks[0]).toMatchObject({
      kind: 'typed-answer',
      taskType: 'retrieve',
      data: ['alpha', ['beta', 'beta group']],
    });
    expect(checks[1]).toMatchObject({
      kind: 'network',
      method: 'GET',
      status: 200,
      lastOnly: true,
      lastNavigation: false,
    });
    const [answer] = rows.VERIFIED.eval;
    const odd = { ...answer, results_schema: { type: 'array', items: { type: 'string', format: 'moon-phase' } } };
    expect((await one({ ...rows.VERIFIED, eval: [odd] })).checks).toEqual([
      expect.objectContaining({ kind: 'unsupported', evaluator: 'AgentResponseEvaluator:moon-phase' }),
    ]);
    expect((await one({ ...rows.VERIFIED, eval: [{ evaluator: 'MoonEvaluator' }] })).checks).toEqual([
      expect.objectContaining({ kind: 'unsupported', evaluator: 'MoonEvaluator' }),
    ]);
  });

  it('WebVoyager: reference answers out of their own file', async () => {
    const question = { about: 'outcome', references: ['Pea soup'], note: 'ratings change' };
    expect((await one(rows.WEBVOYAGER, { references: rows.WEBVOYAGER_REFERENCES })).checks).toEqual([
      { kind: 'judged', question },
    ]);
    expect((await one(rows.WEBVOYAGER)).checks).toMatchObject([{ question: { references: [] } }]);
    const broken = await read(JSON.stringify(rows.WEBVOYAGER), { references: { Recipes: { answers: [{ id: 'x' }] } } });
    expect(broken.problems).toMatchObject([
      { problem: expect.stringContaining('reference answers cannot be read') as string },
    ]);
  });

  it('REAL: state, rubric, script, and the page that sets a site up', async () => {
    const task = await one({ ...rows.REAL, evals: [...rows.REAL.evals, { script: 'eval_dish_1.py' }] });
    expect(task.checks).toEqual([
      { kind: 'state', query: 'cart.items[0].name', expected: 'Ramen', stateUrl: 'https://dish.test/finish' },
      { kind: 'judged', question: { about: 'rubric', rubric: 'says that it was ordered', expected: true } },
      expect.objectContaining({ kind: 'unsupported', evaluator: 'script:eval_dish_1.py' }),
    ]);
    expect(task.needs.setupUrls).toEqual(['https://dish.test/config?run_id=0&task_id=dish-1&latency=0']);
  });

  it('WebGym: facts for a judge', async () => {
    expect((await one(rows.WEBGYM)).checks).toMatchObject([
      {
        kind: 'judged',
        question: {
          about: 'facts',
          answer: 'The clock museum',
          groups: [{ id: 'f1', facts: ['it is named', 'it is free on Monday'] }],
        },
      },
    ]);
  });
});

describe('a wrong row is told by its field', () => {
  const evaluation = (change: object): object => ({ ...rows.WEBARENA, eval: { ...rows.WEBARENA.eval, ...change } });
  it.each<[string, object, TaskFormat, RegExp]>([
    ['an address that is none', { ...rows.TABWRIGHT, url: 'news' }, 'tabwright', /^url: must be an http/u],
    ['a key that is not known', { ...rows.TABWRIGHT, anwser: 'x' }, 'tabwright', /anwser/u],
    ['nothing to do', { ...rows.TABWRIGHT, instruction: ' ' }, 'tabwright', /^instruction: must not be empty/u],
    [
      'no rule for an answer',
      evaluation({ reference_answers: null }),
      'webarena',
      /^eval\.reference_answers: is missing/u,
    ],
    [
      'a reference that anything includes',
      evaluation({ reference_answers: { must_include: [''] } }),
      'webarena',
      /must_include\.0/u,
    ],
    [
      'no reference at all',
      evaluation({ reference_answers: { must_include: [] } }),
      'webarena',
      /without one anything is right/u,
    ],
    [
      'a rule that is not known',
      evaluation({ reference_answers: { must_contain: ['x'] } }),
      'webarena',
      /must_contain/u,
    ],
    ['no check', evaluation({ eval_types: [] }), 'webarena', /done by doing nothing/u],
    [
      'no reason why it cannot be done',
      evaluation({ reference_answers: { fuzzy_match: 'N/A' } }),
      'webarena',
      /^eval\.string_note: is missing/u,
    ],
    ['no address to end at', evaluation({ reference_url: '' }), 'webarena', /^eval\.reference_url: is missing/u],
    [
      'a pattern that is none',
      { ...rows.VERIFIED, eval: [{ ...rows.VERIFIED.eval[1], ignored_query_params_patterns: ['('] }] },
      'webarena-verified',
      /^eval\.0\.ignored_query_params_patterns\.0: is no regular/u,
    ],
    [
      'a query that is none',
      { ...rows.REAL, evals: [{ type: 'jmespath', query: 'a..b', expected_value: 1 }] },
      'real',
      /^evals\.0\.query: is no JMESPath/u,
    ],
    [
      'no expected value',
      { ...rows.REAL, evals: [{ type: 'jmespath', query: 'a' }] },
      'real',
      /^evals\.0\.expected_value/u,
    ],
    ['facts that anything meets', { ...rows.WEBGYM, evaluator_reference: [] }, 'webgym', /met by anything/u],
    [
      'a group without facts',
      { ...rows.WEBGYM, evaluator_reference: [{ id: 'a', facts: [] }] },
      'webgym',
      /met by anything/u,
    ],
    ['a level that is none', { ...rows.MIND2WEB, level: 'odd' }, 'online-mind2web', /^level: /u],
    ['no task', { ...rows.MIND2WEB, task_description: undefined }, 'online-mind2web', /^task_description: is missing/u],
    ['no question', { ...rows.WEBVOYAGER, ques: '' }, 'webvoyager', /^ques: must not be empty/u],
    ['no id', { ...rows.AGENT_AUTH, id: undefined }, 'agent-auth', /^id: /u],
  ])('%s', async (_, row, format, message) => expect(await faults(row, format)).toMatch(message));

  it('all are told, with row and value; the rest is read', async () => {
    const file = await read(
      [
        '{"id":"a","url":"https://a.test","instruction":"x"}',
        '{"id":"b","url":"ftp://b","instruction":"x"}',
        'no json',
        '{"id":"a","url":"https://c.test","instruction":"x"}',
        '7',
      ].join('\n'),
    );
    expect(file.tasks.map(({ task }) => task.id)).toEqual(['a']);
    expect(file.problems.map(({ where, field, value }) => [where, field, value])).toEqual([
      ['line 2', 'url', '"ftp://b"'],
      ['line 3', '', ''],
      ['line 4', 'id', '"a"'],
      ['line 5', '', '7'],
    ]);
    expect(file.problems[2].problem).toBe('is the id of line 1 too; ids are unique');
  });

  it('loading a file with faults says the first ones and how to see all', async () => {
    const file = await parseRows('tasks.jsonl', Buffer.from('{"id":"a","url":"x","instruction":"x"}'));
    expect(() => loadTasks(file)).toThrow(
      /tasks\.jsonl \(tabwright\) has 1 faults: line 1: url = "x": must be.*tabwright tasks validate/u,
    );
  });

  it.each([
    ['[{"a":1}]', /in no known format: its first row has the keys a\. Name one with --format/u],
    ['[', /tasks\.jsonl: no JSON/u],
    ['', /holds no rows/u],
    ['[]', /holds no rows/u],
  ])('a file like %j is refused', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });
  it('bytes that are no text are refused', async () => {
    await expect(parseRows('x', Uint8Array.of(0xff, 0xfe, 0))).rejects.toThrow('x is neither UTF-8 text nor Parquet');
  });
});

describe('sites', () => {
  it('are filled in wherever an address stands, in patterns as text', async () => {
    const tasks = [await one(rows.WEBARENA), await one(rows.VERIFIED)];
    expect(placeholdersOf(tasks)).toEqual(['GITLAB', 'SHOPPING']);
    const sites = findSites(placeholdersOf(tasks), {
      given: ['shopping=http://shop.test:7770/'],
      environment: { WA_SHOPPING: 'http://other.test', GITLAB: 'http://git.test:8023' },
    });
    const [shop, git] = withSites(tasks, sites);
    expect(shop.startUrls).toEqual(['http://shop.test:7770/lamps', 'http://shop.test:7770/cart']);
    expect(shop.checks[1]).toMatchObject({
      references: ['http://shop.test:7770/lamps/green', 'http://shop.test:7770/lamp?id=7'],
    });
    expect(shop.checks[2]).toMatchObject({ targets: [{}, {}, { page: { url: 'http://shop.test:7770/cart' } }] });
    const network = git.checks[1];
    if (network.kind !== 'network') throw new Error('no network check');
    const pattern = new RegExp(network.urls[0]);
    expect([pattern.test('http://git.test:8023/groups/12'), pattern.test('http://gitxtest:8023/groups/12')]).toEqual([
      true,
      false,
    ]);
  });

  it('that nobody has given are refused by name', async () => {
    const tasks = [await one(rows.WEBARENA), await one(rows.VERIFIED)];
    expect(() => withSites(tasks, new Map([['GITLAB', 'http://git.test']]))).toThrow(
      'Nobody has said where __SHOPPING__ is: give --site shopping=http://… or set WA_SHOPPING.',
    );
    expect(() => findSites(['GITLAB'], { given: ['gitlab'], environment: {} })).toThrow('--site gitlab is no site');
    expect(() => findSites(['GITLAB'], { given: [], environment: { GITLAB: 'git.test' } })).toThrow(
      'no http(s) address: git.test',
    );
  });
});

describe('containers', () => {
  it('a folder of JSON files is read, in the order of their names', async () => {
    const dir = mkdtempSync(join(folder, 'real-'));
    writeFileSync(join(dir, 'b.json'), JSON.stringify({ ...rows.REAL, id: 'b' }, null, 2));
    writeFileSync(join(dir, 'a.json'), JSON.stringify({ ...rows.REAL, id: 'a' }));
    writeFileSync(join(dir, 'notes.txt'), 'not a task');
    expect(loadTasks(await readRows(dir, { signal })).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('one JSON object over several lines is a row', async () => {
    expect((await read(JSON.stringify(rows.REAL, null, 2))).tasks).toHaveLength(1);
  });

  it('what is not there is said', async () => {
    await expect(readRows(join(folder, 'none'), { signal })).rejects.toThrow(/There is no file or folder .*none/u);
  });
});

test('a file of a data set comes from the hub, by its address there', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? ''}`);
    if (request.url?.endsWith('gone.jsonl')) response.writeHead(404).end();
    else response.end('{"question":"1 + 1?","answer":"#### 2"}\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const environment = { HF_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, HF_TOKEN: 'hf_x' };
    const file = await openRows('hf:openai/sums/main/test.jsonl', { signal, environment });
    expect(mathProblems(file)).toMatchObject([{ question: '1 + 1?', answer: { numerator: 2n } }]);
    await openRows('hf:openai/sums@v2/main/test.jsonl', { signal, environment });
    expect(asked).toEqual([
      '/datasets/openai/sums/resolve/main/main/test.jsonl Bearer hf_x',
      '/datasets/openai/sums/resolve/v2/main/test.jsonl Bearer hf_x',
    ]);
    await expect(openRows('hf:openai/sums/gone.jsonl', { signal, environment })).rejects.toThrow(
      /datasets\/openai\/sums was not found/u,
    );
    await expect(openRows('hf:sums', { signal, environment })).rejects.toThrow(/write hf:<owner>\/<dataset>\/<path/u);
  } finally {
    server.close();
  }
});

describe('the commands', () => {
  const write = (name: string, list: readonly object[]): string => {
    const path = join(folder, name);
    writeFileSync(path, list.map((row) => `${JSON.stringify(row)}\n`).join(''));
    return path;
  };
  const many = Array.from({ length: 40 }, (_, i) => ({
    id: `t${i}`,
    url: `https://site${i % 13}.test/`,
    instruction: `Do thing ${i}`,
  }));

  it('validate: counts and exit code 0 where nothing is wrong', async () => {
    const path = write('right.jsonl', [rows.TABWRIGHT, { ...rows.TABWRIGHT, id: 'two', answer: undefined }]);
    const { code, stdout } = await runCli(['tasks', 'validate', path, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'tabwright',
      rows: 2,
      tasks: 2,
      sites: { 'www.news.test': 2 },
      checks: { 'answer-text': 1, judged: 1 },
      needs: { judge: 1, login: 0 },
      unsupported: [],
      problems: [],
    });
  }, 120_000);

  it('validate: every fault and every unsupported check by name, exit code 1', async () => {
    const odd = { ...rows.WEBARENA, task_id: 5, eval: { ...rows.WEBARENA.eval, eval_types: ['page_image_query'] } };
    const path = write('wrong.jsonl', [
      rows.WEBARENA,
      rows.WEBARENA,
      odd,
      { ...rows.WEBARENA, task_id: 6, intent: '' },
    ]);
    const { code, stdout, stderr } = await runCli(['tasks', 'validate', path]);
    expect(code).toBe(1);
    expect(stdout).toContain('line 2 (1001): id = "1001": is the id of line 1 too');
    expect(stdout).toContain('line 4: intent = "": must not be empty');
    expect(stdout).toContain('not supported: page_image_query');
    expect(stdout).toContain('2 need somebody who is signed in (--storage-state)');
    expect(stdout).toContain('address needed: __SHOPPING__, by --site shopping=http://… or WA_SHOPPING');
    expect(stderr).toContain('has 2 faults and 1 checks that are not supported');
  }, 120_000);

  it('split: both sides in the file’s format, a summary that proves them apart, the same again', async () => {
    const path = write('many.jsonl', many);
    const split = async (out: string, ...more: string[]): Promise<{ code: number | null; stderr: string }> =>
      runCli(['tasks', 'split', path, '--out-dir', join(folder, out), '--test-share', '0.25', '--seed', '3', ...more]);
    expect(await split('first')).toMatchObject({ code: 0 });
    const side = (out: string, name: string): string => readFileSync(join(folder, out, name), 'utf8');
    const lines = (text: string): { id: string; url: string }[] =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { id: string; url: string });
    const [train, eval_] = [lines(side('first', 'train.jsonl')), lines(side('first', 'test.jsonl'))];
    expect([...train, ...eval_].map(({ id }) => id).sort()).toEqual(many.map(({ id }) => id).sort());
    const hosts = new Set(train.map(({ url }) => url));
    expect(eval_.filter(({ url }) => hosts.has(url))).toEqual([]);
    const summary = JSON.parse(side('first', 'split.json')) as Record<string, unknown>;
    expect(summary).toMatchObject({
      version: 1,
      format: 'tabwright',
      seed: 3,
      by: 'domain',
      units: 13,
      sharedDomains: [],
      sharedGroups: [],
      test: { tasks: eval_.length },
    });
    await split('second');
    expect(side('second', 'test.jsonl')).toBe(side('first', 'test.jsonl'));
    const again = await split('first');
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('already');
  }, 300_000);

  it('the guide’s commands work', async () => {
    const guide = readFileSync('docs/guide/task-files.md', 'utf8');
    const commands = [...guide.matchAll(/^npm run tabwright -- (.+)$/gmu)].map(([, command]) => command);
    expect(commands.map((command) => command.split(' ').slice(0, 2).join(' '))).toEqual([
      'tasks validate',
      'tasks validate',
      'tasks split',
      'eval --env',
      'eval --env',
      'eval --env',
    ]);
    const own = /```json\n(.+)\n```/u.exec(guide)![1];
    writeFileSync(join(folder, 'tasks.jsonl'), [own, ...many.map((row) => JSON.stringify(row))].join('\n'));
    writeFileSync(join(folder, 'sums.jsonl'), '{"question": "3 + 4?", "answer": "#### 7"}\n');
    writeFileSync(join(folder, 'replies.jsonl'), '{"content": "#### 7"}\n');
    const place = (text: string): string =>
      text.replaceAll(/\b(?:tasks|sums|replies)\.jsonl|\bhalves\b/gu, (name) => join(folder, name));
    // The others ask hosted models.
    for (const command of commands.filter((one) => !one.includes('openrouter:'))) {
      const { code, stderr } = await runCli([
        ...place(command).split(' '),
        ...(command.startsWith('eval') ? ['--out', join(folder, 'run')] : []),
      ]);
      expect([command, code, code === 0 ? '' : stderr]).toEqual([command, 0, '']);
    }
  }, 300_000);
});
