// WebMCP in a real Chromium: tools that pages offer, and tools that cells add.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { functionOf } from './function-of.ts';
import { servePages, type PageServer } from './page-server.ts';
import { startRepl, type ReplUnderTest } from './repl-under-test.ts';

type Listed = {
  tool_ref: string;
  tool: { name: string; description: string; inputSchema: object; annotations?: object };
  source: {
    window_id: number;
    tab_id: number;
    target_id: string;
    page_title: string;
    page_url: string;
    frame: { url: string } | null;
    custom?: object;
  };
};

let server: PageServer;
let repl: ReplUnderTest;
beforeAll(async () => {
  server = await servePages();
  repl = await startRepl();
});
afterAll(async () => {
  await repl?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const open = (page: string): Promise<void> => repl.open(`${server.origin}/${page}`);
const list = (options?: object): Promise<Listed[]> => repl.call('webmcp.listTools', options);
const named = async (name: string): Promise<Listed> => (await list()).find(({ tool }) => tool.name === name)!;
const invoke = (ref: string, ...more: readonly unknown[]): Promise<Record<string, unknown>> =>
  repl.call('webmcp.invokeTool', ref, ...more);

test('tools of the page are listed with where they are, the same ones under the same reference', async () => {
  await open('tools');
  const add = await named('add');
  const { targetId } = await repl.call<{ targetId: string }>('currentTab');
  expect(add).toMatchObject({
    tool: {
      name: 'add',
      description: 'Adds one',
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    },
    source: { target_id: targetId, page_title: 'Tools', page_url: `${server.origin}/tools`, frame: null },
  });
  expect((await named('add')).tool_ref).toBe(add.tool_ref);
  expect((await named('subscribe')).tool.description).toBe('Subscribes an address');
});

test('a tool answers, fails in its own words, or waits for a person to send its form', async () => {
  await open('tools');
  const { tool_ref: add } = await named('add');
  expect(await invoke(add, { a: 2 })).toMatchObject({ status: 'completed', output: { sum: 3 } });
  expect(await invoke(add, { a: 13 })).toMatchObject({
    status: 'error',
    error_text: expect.stringContaining('unlucky') as string,
  });
  const { tool_ref: form } = await named('subscribe');
  expect(await invoke(form, { email: 'a@b.test' })).toMatchObject({ status: 'awaiting_submission' });
  expect(await repl.call('js', `document.querySelector('input').value`)).toBe('a@b.test');
});

test('a call whose end is not seen says so, and is not one to repeat', async () => {
  await open('tools');
  const { tool_ref: add } = await named('add');
  await expect(invoke(add, { a: 0 }, { timeoutSec: 1 })).rejects.toMatchObject({
    message: expect.stringMatching(/^WebMCP outcome_unknown, invocation \w+: /) as string,
    details: { name: 'WebMCPRequestError', properties: { statusCode: 504, code: 'outcome_unknown' } },
  });
});

test('a tool that has gone with its page is not there any more', async () => {
  await open('tools');
  const { tool_ref: add } = await named('add');
  await open('plain');
  for (const ref of [add, 'never-was']) {
    await expect(invoke(ref, { a: 1 })).rejects.toMatchObject({ details: { properties: { statusCode: 404 } } });
  }
  expect(await list()).toEqual([]);
  await expect(invoke('', {})).rejects.toThrow('webmcp.invokeTool: toolRef must be');
  await expect(invoke(add, {}, { timeoutSec: 121 })).rejects.toThrow(
    'webmcp.invokeTool: timeoutSec must be a number from 1 to 120',
  );
  await expect(invoke(add, 'text')).rejects.toThrow('webmcp.invokeTool: input must be an object');
});

const tool = (name: string, more: object = {}): object => ({
  kind: 'page',
  match: { url_patterns: [`${server.origin}/*`] },
  tool: {
    name,
    description: 'Of a cell',
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  },
  execute: functionOf('input', 'return { title: document.title, n: input.n + 1 }'),
  ...more,
});

test('tools of cells are added for addresses, checked against their schemas, and removed', async () => {
  await open('plain');
  const [page, cdp] = await repl.call<{ id: string; namespace: string }[]>('webmcp.addCustomTools', {
    namespace: 'mine',
    tools: [tool('look'), tool('drive', { kind: 'cdp' })],
  });
  expect(page).toMatchObject({ id: 'ct_1', namespace: 'mine', kind: 'page', tool: { name: 'look' } });
  expect(await repl.call('webmcp.listCustomTools')).toEqual([page, cdp]);
  const look = await named('look');
  expect(look.source).toMatchObject({ custom: { id: page.id, namespace: 'mine' }, page_title: 'Plain' });
  expect(await list({ excludeCustom: true })).toEqual([]);
  expect(await invoke(look.tool_ref, { n: 1 })).toMatchObject({
    status: 'completed',
    output: { title: 'Plain', n: 2 },
  });
  expect(await invoke(look.tool_ref, { n: 'x' })).toMatchObject({
    status: 'error',
    error_text: expect.stringContaining('schema') as string,
  });
  expect(await invoke((await named('drive')).tool_ref, { n: 1 })).toMatchObject({
    $run: { id: cdp.id, input: { n: 1 } },
  });
  expect(await repl.call('webmcp.removeCustomTool', page.id)).toBe(true);
  expect(await repl.call('webmcp.removeCustomTool', page.id)).toBe(false);
  await expect(invoke(look.tool_ref, { n: 1 })).rejects.toThrow('the tool is no longer there');
  await repl.open('about:blank');
  expect(await list()).toEqual([]);
});

test('a namespace holds a name once, unless it is overwritten', async () => {
  await open('plain');
  const add = (more: object = {}): Promise<unknown> =>
    repl.call('webmcp.addCustomTools', { namespace: 'twice', tools: [tool('one')], ...more });
  await add();
  await expect(add()).rejects.toThrow('there is a tool twice/one already');
  await expect(repl.call('webmcp.addCustomTools', { namespace: 'new', tools: [tool('a'), tool('a')] })).rejects.toThrow(
    'new/a already',
  );
  await add({ forceOverwriteNamespace: true });
  const all = await repl.call<{ namespace: string }[]>('webmcp.listCustomTools');
  expect(all.filter(({ namespace }) => namespace === 'twice')).toHaveLength(1);
  expect(all.filter(({ namespace }) => namespace === 'new')).toHaveLength(0);
});

test.each([
  [{ namespace: 'a b', tools: [] }, 'namespace must be'],
  [{ namespace: 'a', tools: [] }, 'tools must be a non-empty array'],
  [{ namespace: 'a', tools: [{}] }, 'kind must be page or cdp'],
])('addCustomTools(%j) is refused', async (batch, message) => {
  await expect(repl.call('webmcp.addCustomTools', batch)).rejects.toThrow(`webmcp.addCustomTools: ${message}`);
});

test.each([
  ['a pattern without a path', { match: { url_patterns: ['https://example.com'] } }, 'is no URL pattern'],
  ['a pattern of files', { match: { url_patterns: ['file:///*'] } }, 'is no URL pattern'],
  ['an execute that is no function', { execute: 'x' }, 'execute must be a function'],
  [
    'a schema with an expression',
    {
      tool: {
        name: 'a',
        description: '',
        inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } },
      },
    },
    'pattern is not supported',
  ],
  [
    'a schema that refers to itself',
    { tool: { name: 'a', description: '', inputSchema: { type: 'object', properties: { a: { $ref: '#' } } } } },
    '$ref is not supported',
  ],
])('%s is refused', async (_, more, message) => {
  await expect(repl.call('webmcp.addCustomTools', { namespace: 'bad', tools: [tool('a', more)] })).rejects.toThrow(
    message,
  );
});

test('tools of cells run in frames too, each in its own document', async () => {
  await open('frames');
  await repl.call('webmcp.addCustomTools', {
    namespace: 'framed',
    tools: [
      tool('press', {
        match: { url_patterns: [`${server.origin}/frame?*`, `${server.otherOrigin}/frame?*`] },
        execute: functionOf(
          'input',
          `document.querySelector('#inside').click(); return { at: location.search, log: window.log, n: input.n }`,
        ),
      }),
    ],
  });
  const framed = (await list()).filter(({ tool: { name } }) => name === 'press');
  expect(framed.map(({ source }) => source.frame?.url.replace(/^.*\?/, '')).sort()).toEqual(['other', 'same']);
  for (const { tool_ref: ref, source } of framed) {
    expect(await invoke(ref, { n: 7 })).toMatchObject({
      status: 'completed',
      output: { at: source.frame!.url.replace(/^[^?]*/, ''), log: ['inside'], n: 7 },
    });
  }
});
