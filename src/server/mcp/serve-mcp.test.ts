// The tool as an official client sees it, over sessions without a browser.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fakeBrowsers, PNG, type FakeBrowsers } from '../fixtures/fake-session.ts';
import { serveMcp } from './serve-mcp.ts';

let browsers: FakeBrowsers;
let server: AsyncDisposable;
let client: Client;

beforeEach(async () => {
  browsers = fakeBrowsers();
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const settings = { openSession: browsers.open, version: '1.2.3', description: 'Runs JavaScript.', maxSessions: 2 };
  server = await serveMcp(ours, settings);
  client = new Client({ name: 'test', version: '0' });
  await client.connect(theirs);
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await client.close();
});

function call(args: Record<string, unknown>): Promise<CallToolResult> {
  return client.callTool({ name: 'browser_repl', arguments: args }) as Promise<CallToolResult>;
}

function textOf({ content }: CallToolResult): string {
  return content[0].type === 'text' ? content[0].text : '';
}

test('there is one tool, with the parameters of Kernel', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['browser_repl']);
  const { properties, required } = tools[0].inputSchema;
  const names = ['session_id', 'code', 'reset', 'timeout_sec', 'project', 'project_id'];
  expect(Object.keys(properties!)).toEqual(names);
  expect(properties).toMatchObject({
    code: { type: 'string', default: '' },
    reset: { type: 'boolean', default: false },
    timeout_sec: { type: 'integer', minimum: 1, maximum: 150, default: 60 },
  });
  expect(required).toContain('session_id');
});

test('the answer is JSON without the bytes of images, then the images', async () => {
  const result = await call({ session_id: 'main', code: 'image' });
  const [text, image] = result.content;
  expect(textOf({ content: [text] })).toBe(
    JSON.stringify(
      {
        success: true,
        repl_id: 'repl0',
        content: [
          { index: 0, type: 'text', channel: 'stdout', text: 'here' },
          { index: 1, type: 'image', mime_type: 'image/png' },
        ],
        duration_ms: 1,
      },
      null,
      2,
    ),
  );
  expect(image).toEqual({ type: 'image', data: PNG.toString('base64'), mimeType: 'image/png' });
  expect(result.isError).toBeUndefined();
});

test('a cell that fails is no error of the tool', async () => {
  const result = await call({ session_id: 'main', code: 'throw no' });
  expect(JSON.parse(textOf(result))).toMatchObject({ success: false, error: 'no', stack: 'at cell' });
  expect(result.isError).toBeUndefined();
});

test.each([
  ['no session', { code: '1' }],
  ['a longer time than a client waits', { session_id: 'main', code: '1', timeout_sec: 151 }],
  ['an unknown parameter', { session_id: 'main', code: '1', speed: 2 }],
])('%s is an error of the tool, and nothing runs', async (_, args) => {
  const refused = await call(args).catch((error: unknown) => ({ isError: true, error }));
  expect(refused.isError).toBe(true);
  expect(browsers.sessions).toEqual([]);
});

test('a session is opened when it is named, kept, and opened anew when its browser is gone', async () => {
  await call({ session_id: 'a', code: 'show' });
  await call({ session_id: 'a', code: 'show' });
  expect(browsers.sessions.length).toBe(1);
  browsers.sessions[0].crash();
  await Promise.all([call({ session_id: 'a', code: 'show' }), call({ session_id: 'a', code: 'show' })]);
  expect(browsers.sessions.map(({ disposed, cells }) => [disposed, cells.length])).toEqual([
    [true, 2],
    [false, 2],
  ]);
});

test('there are no more sessions than allowed, and the refusal names those that are open', async () => {
  await Promise.all(['a', 'b'].map((session_id) => call({ session_id, code: 'show' })));
  const refused = await call({ session_id: 'c', code: 'show' });
  expect([refused.isError, textOf(refused)]).toEqual([
    true,
    '2 browsers are open, and no more may be. Use one of: a, b.',
  ]);
});

test('a session that does not open is an error of the tool, and the next call tries again', async () => {
  browsers.failWith = new Error('no display');
  expect(await call({ session_id: 'a', code: 'show' })).toMatchObject({ isError: true });
  browsers.failWith = undefined;
  expect((await call({ session_id: 'a', code: 'show' })).isError).toBeUndefined();
});

test('the end of the server ends every browser', async () => {
  await call({ session_id: 'a', code: 'show' });
  await server[Symbol.asyncDispose]();
  expect(browsers.sessions[0].disposed).toBe(true);
});

test('a browser that nobody uses ends, one that runs a cell does not, and its name opens another', async () => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await using idle = await serveMcp(ours, {
    openSession: browsers.open,
    version: '1',
    description: '',
    maxSessions: 1,
    idleMs: 30,
  });
  expect(idle).toBeDefined();
  const one = new Client({ name: 'test', version: '0' });
  await one.connect(theirs);
  const use = (session_id: string) =>
    one.callTool({ name: 'browser_repl', arguments: { session_id, code: 'show' } }) as Promise<CallToolResult>;
  await use('a');
  await expect.poll(() => browsers.sessions[0].disposed).toBe(true);
  expect((await use('b')).isError).toBeUndefined(); // the place is free again
  await use('b');
  expect(browsers.sessions).toHaveLength(2);
  await one.close();
});
