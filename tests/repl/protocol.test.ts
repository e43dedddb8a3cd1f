// The protocol itself, scripts in the page, files and requests beside the browser; and what the host writes down of it.

import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderActionLog } from '../../src/repl/action-log.ts';
import { createHttpGet } from '../../src/repl/methods/http-client.ts';
import { functionOf } from './function-of.ts';
import { servePages, type PageServer } from './page-server.ts';
import { startRepl, type ReplUnderTest } from './repl-under-test.ts';

type Event = { method: string; params: Record<string, unknown>; sessionId?: string; time: number };
type Waited = { sequence: number; event: Event } | null;

let server: PageServer;
let repl: ReplUnderTest;
beforeAll(async () => {
  server = await servePages();
  repl = await startRepl({ httpGet: createHttpGet() });
});
afterAll(async () => {
  await repl?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const open = (page: string): Promise<void> => repl.open(`${server.origin}/${page}`);
const session = async (): Promise<unknown> =>
  repl.call('switchTab', (await repl.call<{ targetId: string }>('currentTab')).targetId);

test('commands go to the attached page, to the browser, or to a named session', async () => {
  await open('plain');
  expect(await repl.call('cdp', 'Runtime.evaluate', { expression: '2 + 3' })).toMatchObject({ result: { value: 5 } });
  expect(await repl.call('cdp', 'Target.getTargets')).toHaveProperty('targetInfos');
  expect(await repl.call('cdp', 'Browser.getVersion', undefined, null)).toHaveProperty('product');
  const own = await session();
  expect(await repl.call('cdp', 'Page.getFrameTree', {}, own)).toMatchObject({
    frameTree: { frame: { url: `${server.origin}/plain` } },
  });
  await expect(repl.call('cdp', 'Page.getFrameTree', {}, null)).rejects.toThrow(
    "CDP Page.getFrameTree failed: 'Page.getFrameTree' wasn't found (code -32601)",
  );
  await expect(repl.call('cdp', 'Page.getFrameTree', {}, 'no-such-session')).rejects.toThrow(
    'CDP Page.getFrameTree failed: ',
  );
  await expect(repl.call('cdp', 'Page.getFrameTree', {}, 3)).rejects.toThrow('cdp: sessionId must be');
  await expect(repl.call('cdp', 'Page.getFrameTree', 'x')).rejects.toThrow('cdp: params must be an object');
});

test('refused commands do not reach the browser', async () => {
  await open('plain');
  for (const [method, params] of [
    ['Browser.close', {}],
    ['Page.navigate', { url: 'file:///etc/hostname' }],
    ['DOM.setFileInputFiles', { files: ['/etc/hostname'] }],
    ['Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: '/etc' }],
  ] as const) {
    await expect(repl.call('cdp', method, params)).rejects.toThrow(`CDP ${method} refused: `);
  }
  await expect(repl.call('gotoUrl', 'file:///etc/hostname')).rejects.toThrow('CDP Page.navigate refused: ');
  await expect(repl.call('newTab', 'chrome://version')).rejects.toThrow('CDP Target.createTarget refused: ');
  expect(await repl.call('js', 'location.pathname')).toBe('/plain');
});

test('an event is waited for from the moment of the call, with or without a predicate', async () => {
  await open('plain');
  const loaded = repl.call<Waited>('waitForEvent', 'Page.loadEventFired');
  await repl.call('gotoUrl', `${server.origin}/second`);
  const first = (await loaded)!;
  expect(first.event).toMatchObject({ method: 'Page.loadEventFired', sessionId: await session() });
  expect(Math.abs(first.event.time - Date.now())).toBeLessThan(20_000);
  expect(await repl.call('waitForEvent', 'Page.loadEventFired', { timeoutSec: 0.1 })).toBeNull();
  // What a cell does whose predicate said no: it asks for the next one.
  const next = repl.call<Waited>('waitForEvent', 'Page.loadEventFired', { sequence: first.sequence });
  await repl.call('gotoUrl', `${server.origin}/plain`);
  expect((await next)!.sequence).toBeGreaterThan(first.sequence);
});

test('events of the browser and of other sessions are waited for by their session', async () => {
  await open('plain');
  await repl.call('cdp', 'Target.setDiscoverTargets', { discover: true });
  const created = repl.call<Waited>('waitForEvent', 'Target.targetCreated', { sessionId: null });
  const { targetId } = await repl.call<{ targetId: string }>('cdp', 'Target.createTarget', { url: 'about:blank' });
  expect((await created)!.event).toMatchObject({ params: { targetInfo: { targetId } } });
  await repl.call('cdp', 'Target.setDiscoverTargets', { discover: false });
  const other = await repl.call<{ sessionId: string }>('cdp', 'Target.attachToTarget', { targetId, flatten: true });
  await repl.call('cdp', 'Page.enable', {}, other.sessionId);
  const loaded = repl.call<Waited>('waitForEvent', 'Page.loadEventFired', { sessionId: other.sessionId });
  await repl.call('cdp', 'Page.navigate', { url: `${server.origin}/second` }, other.sessionId);
  expect((await loaded)!.event.sessionId).toBe(other.sessionId);
  await repl.call('closeTab', targetId);
});

test('without an attached page, the default session is no session', async () => {
  await using fresh = await startRepl();
  await expect(fresh.call('waitForEvent', 'Page.loadEventFired')).rejects.toThrow('waitForEvent: no page is attached');
  expect(await fresh.call('ensureRealTab')).toMatchObject({ url: 'about:blank' });
  expect(await fresh.call('waitForEvent', 'Page.loadEventFired', { timeoutSec: 0 })).toBeNull();
  await expect(fresh.call('waitForEvent', 'x', { timeout: 1 })).rejects.toThrow(
    'waitForEvent: unknown option: timeout',
  );
  await expect(fresh.call('waitForEvent', '')).rejects.toThrow('waitForEvent: method must be a non-empty string');
});

test('draining gives the newest 500 events once', async () => {
  await open('plain');
  await repl.call('drainEvents');
  await repl.call('js', 'for (let index = 0; index < 700; index++) console.log(index)');
  const events = await repl.call<Event[]>('drainEvents');
  expect(events).toHaveLength(500);
  expect(events.at(-1)).toMatchObject({ method: 'Runtime.consoleAPICalled', params: { args: [{ value: 699 }] } });
  expect(await repl.call('drainEvents')).toEqual([]);
});

test.each([
  ['1 + 1', 2],
  ['Promise.resolve("later")', 'later'],
  ['NaN', NaN],
  ['-0', -0],
  ['-Infinity', -Infinity],
  ['12345678901234567890n', 12345678901234567890n],
  ['undefined', undefined],
  ['null', null],
  ['({ a: [1, { b: "c" }] })', { a: [1, { b: 'c' }] }],
  ['document.body', undefined],
  ['() => 1', undefined],
  ['Symbol("x")', undefined],
])('js(%s) gives what has a value, by value', async (expression, value) => {
  await open('plain');
  expect(await repl.call('js', expression)).toEqual(value);
});

test('functions run in the page with their one argument, whatever it is', async () => {
  await open('plain');
  // Cells send the source of their functions; so does this.
  const echo = functionOf('value', 'return value');
  const kind = functionOf('value', 'return typeof value');
  const values = [undefined, null, true, 'a"\u2028', 3, -0, NaN, 7n, [1, ['b']], { ['__proto__']: 1, a: { b: 2 } }];
  for (const arg of values) {
    expect(await repl.call('js', echo, { arg })).toEqual(arg);
    expect(await repl.call('js', kind, { arg })).toBe(typeof arg);
  }
  expect(await repl.call('js', functionOf('return arguments.length'))).toBe(0);
  await expect(repl.call('js', '1', { arg: 1 })).rejects.toThrow('js: arg needs a function');
  await expect(repl.call('js', 1)).rejects.toThrow('js: the first argument must be an expression or a function');
  await expect(repl.call('js', '1', { args: [] })).rejects.toThrow('js: unknown option: args');
});

test('what a script throws is said in its own words, and it ran once', async () => {
  await open('plain');
  await expect(repl.call('js', 'window.count = (window.count ?? 0) + 1, nothing')).rejects.toThrow(
    'ReferenceError: nothing is not defined',
  );
  await expect(repl.call('js', 'Promise.reject(new Error("no"))')).rejects.toThrow('Error: no');
  await expect(repl.call('js', 'return 1')).rejects.toThrow('SyntaxError');
  expect(await repl.call('js', 'count')).toBe(1);
});

test('a script runs in another tab on request', async () => {
  await open('plain');
  const { targetId } = await repl.call<{ targetId: string }>('currentTab');
  const other = await repl.call<string>('newTab', `${server.origin}/second`);
  await repl.call('waitForLoad');
  expect(await repl.call('js', 'document.title', { targetId })).toBe('Plain');
  expect(await repl.call('js', 'document.title')).toBe('Second');
  await expect(repl.call('js', '1', { targetId: 'none' })).rejects.toThrow('there is no target none');
  await repl.call('closeTab', other);
});

test('files of the scratch folder are uploaded, others are not', async () => {
  await open('fields');
  await writeFile(join(repl.folder, 'one.txt'), 'first');
  await writeFile(join(repl.folder, 'two.txt'), 'second!');
  await repl.call('uploadFile', '#file', ['one.txt', join(repl.folder, 'two.txt')]);
  expect(await repl.call('js', 'log')).toEqual(['files one.txt:5,two.txt:7']);
  await symlink('/etc/hostname', join(repl.folder, 'hostname'));
  await mkdir(join(repl.folder, 'folder'));
  for (const path of ['/etc/hostname', 'hostname', '../x', 'folder', 'none.txt', ['one.txt', '/etc/hostname']]) {
    await expect(repl.call('uploadFile', '#file', path), String(path)).rejects.toThrow(/^uploadFile: /);
  }
  await expect(repl.call('uploadFile', '#file', [])).rejects.toThrow('uploadFile: paths must be');
  await expect(repl.call('uploadFile', '#nothing', 'one.txt')).rejects.toThrow('uploadFile: "#nothing" was not found');
});

test('downloads go to the scratch folder and are waited for by their events', async () => {
  await open('download');
  await repl.call('cdp', 'Browser.setDownloadBehavior', {
    behavior: 'allow',
    downloadPath: join(repl.folder, 'downloads'),
    eventsEnabled: true,
  });
  let progress = repl.call<Waited>('waitForEvent', 'Browser.downloadProgress', { sessionId: null });
  await repl.call('click', '#save');
  for (let waited = await progress; waited?.event.params.state !== 'completed'; waited = await progress) {
    expect(waited).not.toBeNull();
    progress = repl.call<Waited>('waitForEvent', 'Browser.downloadProgress', {
      sessionId: null,
      sequence: waited!.sequence,
    });
  }
  expect(await readFile(join(repl.folder, 'downloads', 'report.csv'), 'utf8')).toBe('a,b\n1,2\n');
});

test('httpGet is beside the browser: no cookies, redirects, statuses, and time for the whole body', async () => {
  await open('plain');
  await repl.call('js', 'document.cookie = "known=1"');
  expect(await repl.call('httpGet', `${server.origin}/echo`, { 'X-Mine': 'yes' })).toBe('an answer');
  expect(server.requests.at(-1)!.headers).toMatchObject({ 'user-agent': 'Mozilla/5.0', 'x-mine': 'yes' });
  expect(server.requests.at(-1)!.headers).not.toHaveProperty('cookie');
  expect(await repl.call('httpGet', `${server.origin}/redirect`, { Authorization: 'secret' })).toBe('an answer');
  expect(server.requests.at(-1)!.headers).not.toHaveProperty('authorization');
  await expect(repl.call('httpGet', `${server.origin}/missing`)).rejects.toThrow('answered with status 404');
  for (const path of ['never', 'half']) {
    await expect(repl.call('httpGet', `${server.origin}/${path}`, undefined, 0.3)).rejects.toThrow(
      'did not answer completely within 0.3s',
    );
  }
  await expect(repl.callWithin(900, 'httpGet', `${server.origin}/never`)).rejects.toThrow('did not answer completely');
  await expect(repl.call('httpGet', 'file:///etc/hostname')).rejects.toThrow('is not an http or https address');
  await using off = await startRepl();
  await expect(off.call('httpGet', server.origin)).rejects.toThrow('switched off');
});

test('the host writes down what was done, by what the browser says of it', async () => {
  await using fresh = await startRepl();
  await fresh.open(`${server.origin}/fields`);
  await fresh.call('fillInput', '#area', 'Ann "quoted"');
  await fresh.call('pressKey', 'Tab', ['Shift']);
  await expect(fresh.call('click', '#nothing', { timeoutSec: 0 })).rejects.toThrow();
  await fresh.open(`${server.origin}/tabs`);
  await fresh.call('js', `void document.querySelector('#blank').removeAttribute('target')`);
  const { nodes } = await fresh.call<{ nodes: { role: string }[] }>('accessibilitySnapshot');
  await fresh.call(
    'click',
    nodes.find(({ role }) => role === 'link'),
  );
  await fresh.call('waitForElement', 'h1');
  const origin = server.origin;
  expect(renderActionLog(fresh.calls.log).split('\n')).toEqual([
    `1. gotoUrl to "${origin}/fields" on "" -> "${origin}/fields"`,
    `2. fillInput "textbox" "" text "Ann \\"quoted\\"" on "${origin}/fields"`,
    `3. pressKey key "Shift+Tab" on "${origin}/fields"`,
    `4. click on "${origin}/fields" (failed)`,
    `5. gotoUrl to "${origin}/tabs" on "${origin}/fields" -> "${origin}/tabs"`,
    `6. js on "${origin}/tabs"`,
    `7. click "link" "New tab" on "${origin}/tabs" -> "${origin}/second"`,
  ]);
  expect(fresh.calls.log.acted(1)).toBe(true);
});

test('helpers that are called together attach once', async () => {
  await using fresh = await startRepl();
  await Promise.all([
    fresh.call('pageInfo'),
    fresh.call('js', '1'),
    fresh.call('accessibilitySnapshot'),
    fresh.call('currentTab'),
  ]);
  const events = await fresh.call<Event[]>('drainEvents');
  expect(events.filter(({ method }) => method === 'Target.attachedToTarget')).toHaveLength(1);
});

test('a picture for judges is taken on a session that cells do not see', async () => {
  await open('plain');
  await repl.call('drainEvents');
  const own = await session();
  const picture = await repl.calls.screenshot({ signal: new AbortController().signal, deadlineMs: 10_000 });
  expect(Buffer.from(picture!).subarray(1, 4).toString()).toBe('PNG');
  expect(await repl.call('drainEvents')).toEqual([]);
  expect(await session()).toBe(own);
});

test('a picture of a page that does not answer is none', async () => {
  await repl.call('gotoUrl', `${server.origin}/spin`);
  await repl.call('waitMs', 600);
  expect(await repl.calls.screenshot({ signal: new AbortController().signal, deadlineMs: 1_500 })).toBeUndefined();
  await repl.call('cdp', 'Runtime.terminateExecution');
});
