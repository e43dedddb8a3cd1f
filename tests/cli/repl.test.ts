// `tabwright repl` as a process: one cell, cells from the input, and how it refuses.

import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { noJail, whyNot } from '../sandbox/jail.ts';
import { runCli } from './run-cli.ts';

test.skipIf(noJail)(`one cell acts on a page and shows what it wrote${whyNot}`, async () => {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<title>Fixture</title><button onclick="document.title = \'pressed\'">Press</button>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://localhost:${port}/`;
  const cell = 'await click("button"); repl.write(await js("document.title"))';
  const { code, stdout, stderr } = await runCli([
    'repl',
    '--url',
    url,
    '--allow',
    `localhost:${port}`,
    '--code',
    cell,
    '--json',
  ]);
  server.close();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    kind: 'result',
    success: true,
    content: [{ type: 'text', channel: 'write', text: 'pressed' }],
  });
});

test.skipIf(noJail)(
  `cells from the input keep their variables, over several lines and after an error${whyNot}`,
  async () => {
    const input =
      'let a = 1\nfunction b() {\n\n  return `${a}\n`\n}\nnull.x\nrepl.write(b() + 2)\nrepl.write(process.env.HOME)';
    const { code, stdout, stderr } = await runCli(['repl'], { input });
    expect(stdout).toBe('1\n2\n/home/jail\n');
    expect(stderr).toMatch(
      /^TypeError: Cannot read properties of null \(reading 'x'\)\n\s+at browser-repl-cell-3\.mjs:1:6\n$/,
    );
    expect(code).toBe(0);
  },
);

test('without a jail there is one warning, and a cell that fails is the exit code', async () => {
  const { code, stdout, stderr } = await runCli(['repl', '--unsafe-local', '--code', 'throw new Error("mine")']);
  expect([code, stdout.trim()]).toEqual([1, '']);
  expect(stderr).toMatch(/^warning: no jail: .*\nerror: Error: mine\n\s+at browser-repl-cell-1\.mjs:1:7\n$/);
});

test.each([
  [['--code', '1', '--file', 'x'], /both given/],
  [['--file', '/no/such/file'], /there is no such file/],
  [['--code', '1', '--allow', 'http://a'], /is not a host/],
])('%j is refused', async (args, message) => {
  const { code, stderr } = await runCli(['repl', ...args]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});
