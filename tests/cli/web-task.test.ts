// `tabwright eval --url --task` as a process: a script or an endpoint plays one task on a page, and what it leaves.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callOf, sendJson, serveChat } from '../../src/chat/fixtures/chat-server.ts';
import { readRun } from '../../src/store/index.ts';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { servePages, type PageServer } from '../repl/page-server.ts';
import { runCli, type CliOptions, type CliResult } from './run-cli.ts';

const KEY = 'sk-a-key-that-nobody-may-see';
const TIMEOUT = 120_000;
let folder: string;
let site: PageServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwright-web-task-'));
  site = await servePages();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], options: CliOptions = {}): Promise<CliResult> =>
  runCli(
    [
      ...['eval', '--url', `${site.origin}/plain`, '--task', 'What is the heading?'],
      ...['--allow', new URL(site.origin).host, ...args],
    ],
    options,
  );

async function everything(dir: string): Promise<string> {
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  return (await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')))).join('\n');
}

describe.skipIf(noJail)(`one task on a website${whyNot}`, () => {
  test(
    'a script plays it; cells, output and answer are printed, terminal controls written out',
    async () => {
      const script = join(folder, 'script.jsonl');
      const cell = (code: string) =>
        JSON.stringify({ tool_calls: [{ function: { name: 'browser_repl', arguments: { code } } }] });
      await writeFile(
        script,
        `${cell(`var text = await js('document.querySelector("h1").textContent');\nrepl.write(text + '\\u001b[31m')`)}\n{"content": "It says Hello."}\n`,
      );
      const out = join(folder, 'scripted');
      const { code, stdout, stderr } = await run(['--model', `scripted:${script}`, '--verbose', '--out', out]);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stdout).toBe(
        `> var text = await js('document.querySelector("h1").textContent');\n` +
          `. repl.write(text + '\\u001b[31m')\n  [The cell ran.]\nHello\\u{1b}[31m\n\n` +
          `Answer: It says Hello.\nNobody has judged it. Episode, log and pictures: ${out}/rollouts/eval.jsonl\n`,
      );
      const folderOfRun = await readRun(out);
      expect(folderOfRun.config).toMatchObject({
        command: 'eval',
        model: `scripted:${script}`,
        env: 'web-task',
        maxTurns: 10,
        maxCorrections: 2,
        outputCharacters: 4_000,
        turnTokens: 4_096,
        trajectoryTokens: 65_536,
        limitReward: 'clamp',
        profile: 'train',
        versions: { chromium: expect.stringMatching(/Chrome\//) as string },
      });
      const [{ turns, outcome }] = await folderOfRun.readAnyRollouts('eval');
      expect(outcome).toMatchObject({ kind: 'invalid', code: 'not-judged' });
      expect((await folderOfRun.readScreenshot(turns.at(-1)!.evidence!)).subarray(1, 4)).toEqual(Buffer.from('PNG'));
      await expect(folderOfRun.readRollouts('eval')).rejects.toMatchObject({ code: 'no-tokens' });
    },
    TIMEOUT,
  );

  test(
    'an endpoint plays it with the key of the environment, which is nowhere to be found afterwards',
    async () => {
      await using server = await serveChat((index) =>
        index === 0 ? callOf('browser_repl', { code: `repl.write(await js('document.title'))` }) : { content: 'Plain' },
      );
      const out = join(folder, 'endpoint');
      const { code, stdout, stderr } = await run(
        ['--model', 'openai:some-model', '--base-url', server.url, '--json', '--verbose', '--out', out],
        { env: { OPENAI_API_KEY: KEY } },
      );
      expect(code, stderr).toBe(0);
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.filter(({ kind }) => kind === 'turn')).toMatchObject([
        { action: { tool: 'browser_repl' }, notice: 'The cell ran.', output: 'Plain' },
        { action: { kind: 'answer', text: 'Plain' } },
      ]);
      expect(lines.at(-1)).toMatchObject({ kind: 'result', answer: 'Plain', turns: 2, judged: false });
      expect(server.asked.map(({ key }) => key)).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
      const kept = await everything(out);
      expect(kept).toContain('some-model');
      expect(kept + stdout + stderr).not.toContain(KEY);
    },
    TIMEOUT,
  );

  test(
    'an endpoint that refuses the key is the command’s failure, told without the key',
    async () => {
      await using server = await serveChat(
        () => (response) => sendJson(response, 401, { error: { message: `bad ${KEY}` } }),
      );
      const out = join(folder, 'refused');
      const { code, stdout, stderr } = await run(
        ['--model', 'openai:m', '--base-url', server.url, '--out', out, '--debug'],
        { env: { OPENAI_API_KEY: KEY } },
      );
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('refused the key');
      expect(stderr + (await everything(out))).not.toContain(KEY);
    },
    TIMEOUT,
  );

  test(
    'a model of this machine plays it too, and its tokens are kept',
    async () => {
      const out = join(folder, 'nano');
      const { code, stdout } = await run(['--model', 'nano', '--out', out]);
      expect([code, stdout]).toEqual([0, expect.stringContaining('No answer: the episode ended after 3 turns.')]);
      const [{ turns }] = await (await readRun(out)).readRollouts('eval');
      expect(turns.every(({ actionTokens }) => actionTokens.length > 0)).toBe(true);
    },
    TIMEOUT,
  );
});

test.each([
  [['eval', '--url', 'https://example.com'], /belong together/],
  [['eval', '--max-turns', '3'], /--max-turns is for websites/],
  [['eval', '--url', 'https://example.com', '--task', 'x', '--episodes', '3'], /--episodes is for many tasks/],
  [['eval', '--url', 'https://example.com', '--task', 'x', '--model', 'openai:m'], /set OPENAI_API_KEY/],
])(
  '%j is refused',
  async (args, message) => {
    const { code, stderr } = await runCli(args, { env: { OPENAI_API_KEY: '' } });
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  },
  TIMEOUT,
);
