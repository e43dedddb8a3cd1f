// Addresses, tabs, frames, dialogs and everything that waits, in a real Chromium.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { servePages, type PageServer } from './page-server.ts';
import { startRepl, type ReplUnderTest } from './repl-under-test.ts';

type Tab = { targetId: string; title: string; url: string };

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
const log = (): Promise<readonly string[]> => repl.call('js', 'log');

test('gotoUrl gives the raw answer, also of what cannot be reached, and waits for no load', async () => {
  expect(await repl.call('gotoUrl', `${server.origin}/plain`)).toMatchObject({
    frameId: expect.stringMatching(/^\w+$/) as string,
    loaderId: expect.stringMatching(/^\w+$/) as string,
  });
  expect(await repl.call('gotoUrl', 'http://nowhere.invalid/')).toMatchObject({
    errorText: 'net::ERR_NAME_NOT_RESOLVED',
  });
  await expect(repl.call('gotoUrl', '')).rejects.toThrow('gotoUrl: url must be a non-empty string');
});

test('a server that never answers fails gotoUrl before the cell is lost, and the next address works', async () => {
  await open('plain');
  const before = performance.now();
  await expect(repl.callWithin(1_500, 'gotoUrl', `${server.origin}/never`)).rejects.toThrow(
    /^CDP Page.navigate timed out after \d+ms/,
  );
  expect(performance.now() - before).toBeLessThan(1_500);
  await open('second');
  expect(await repl.call('js', 'document.title')).toBe('Second');
});

test('pageInfo says where the page is and how large', async () => {
  await open('scrolling#part');
  await repl.call('js', 'scrollTo(30, 40)');
  expect(await repl.call('pageInfo')).toEqual({
    url: `${server.origin}/scrolling#part`,
    title: 'Scrolling',
    viewport: { width: 800, height: 600 },
    scroll: { x: 30, y: 40 },
    page: { width: 3008, height: 3008 + 8 },
    ready_state: 'complete',
    dialog: null,
  });
});

test.each([
  ['#alert', { accept: true }, { type: 'alert', message: 'Careful' }, 'alerted'],
  ['#confirm', { accept: true }, { type: 'confirm', message: 'Sure?' }, 'confirm true'],
  ['#confirm', { accept: false }, { type: 'confirm', message: 'Sure?' }, 'confirm false'],
  ['#prompt', { accept: true, promptText: 'Ann' }, { type: 'prompt', message: 'Name?' }, 'prompt Ann'],
])('a click on %s comes back with the dialog open, and %j answers it', async (selector, answer, dialog, noted) => {
  await open('dialogs');
  await repl.call('click', selector);
  expect(await repl.call('pageInfo')).toEqual({ dialog, url: `${server.origin}/dialogs`, title: 'Dialogs' });
  await repl.call('cdp', 'Page.handleJavaScriptDialog', answer);
  expect(await log()).toEqual([noted]);
  expect(await repl.call('pageInfo')).toMatchObject({ dialog: null });
});

test('a key that opens a dialog comes back, and an evaluation that opens one waits for the answer', async () => {
  await open('dialogs');
  await repl.call('click', '#key');
  await repl.call('pressKey', 'Enter');
  await repl.call('cdp', 'Page.handleJavaScriptDialog', { accept: true });
  expect(await log()).toEqual(['enter true']);
  const opening = repl.call('waitForEvent', 'Page.javascriptDialogOpening');
  const answer = repl.call('js', `confirm('Well?')`);
  await opening;
  await repl.call('cdp', 'Page.handleJavaScriptDialog', { accept: true });
  expect(await answer).toBe(true);
});

test('with a dialog open, an evaluation ends before the cell does and says what to do', async () => {
  await open('dialogs');
  await repl.call('click', '#alert');
  await expect(repl.callWithin(1_200, 'js', '1')).rejects.toThrow(
    /^CDP Runtime.evaluate timed out after \d+ms; .*Page.handleJavaScriptDialog.*Page.reload/,
  );
  expect(await repl.callWithin(1_200, 'waitForElement', 'button')).toBe(false);
  for (const [method, argument] of Object.entries({ click: '#confirm', pressKey: 'a', gotoUrl: server.origin })) {
    await expect(repl.call(method, argument)).rejects.toThrow('a dialog is open (alert "Careful"); answer it first');
  }
  await repl.call('cdp', 'Page.handleJavaScriptDialog', { accept: true });
});

test('leaving a page that asks whether to leave shows the question', async () => {
  await open('dialogs');
  await repl.call('click', '#guard');
  await repl.call('gotoUrl', `${server.origin}/plain`);
  expect(await repl.call('pageInfo')).toMatchObject({ dialog: { type: 'beforeunload' } });
  await repl.call('cdp', 'Page.handleJavaScriptDialog', { accept: true });
  await expect.poll(() => repl.call('js', 'document.title'), { timeout: 5_000 }).toBe('Plain');
});

test('new tabs are listed, switched to and closed', async () => {
  await open('tabs');
  const first = await repl.call<Tab>('currentTab');
  expect(first).toMatchObject({ title: 'Tabs', url: `${server.origin}/tabs` });
  for (const selector of ['#blank', '#opener']) {
    await repl.call('click', selector);
    await expect.poll(async () => (await repl.call<Tab[]>('listTabs')).length, { timeout: 5_000 }).toBe(2);
    expect((await repl.call<Tab>('currentTab')).targetId).toBe(first.targetId);
    const second = (await repl.call<Tab[]>('listTabs', false)).find(({ targetId }) => targetId !== first.targetId)!;
    expect(await repl.call('switchTab', second)).toMatch(/^\w+$/);
    await repl.call('waitForLoad');
    expect(await repl.call('js', 'document.title')).toBe('Second');
    await repl.call('closeTab');
    expect((await repl.call<Tab[]>('listTabs')).map(({ targetId }) => targetId)).toEqual([first.targetId]);
    expect((await repl.call<Tab>('currentTab')).targetId).toBe(first.targetId);
  }
  await expect(repl.call('closeTab', 'no-such-tab')).rejects.toThrow();
  await expect(repl.call('switchTab', 'no-such-tab')).rejects.toThrow('No target with given id found');
});

test('switching to the attached tab keeps its session, switching away lets it go', async () => {
  await open('plain');
  const { targetId } = await repl.call<Tab>('currentTab');
  const session = await repl.call('switchTab', targetId);
  expect(await repl.call('switchTab', { targetId })).toBe(session);
  const opened = await repl.call<string>('newTab');
  expect(await repl.call('switchTab', targetId)).not.toBe(session);
  await repl.call('closeTab', opened);
});

test('newTab uses a blank attached tab again when it has an address, and does not wait for a slow server', async () => {
  await open('plain');
  const blank = await repl.call<string>('newTab');
  expect(await repl.call('newTab', `${server.origin}/second`)).toBe(blank);
  await repl.call('waitForLoad');
  const other = await repl.call<string>('newTab', `${server.origin}/plain`);
  expect(other).not.toBe(blank);
  const before = performance.now();
  const slow = await repl.call<string>('newTab', `${server.origin}/never`);
  expect(performance.now() - before).toBeLessThan(8_000);
  for (const targetId of [slow, other, blank]) await repl.call('closeTab', targetId);
});

test('a tab that closes itself on a click is no failure, and the next helper is on another tab', async () => {
  await open('tabs');
  await repl.call('newTab', `${server.origin}/plain`);
  await repl.call('waitForLoad');
  await repl.call('js', `void window.open('/tabs')`);
  await expect.poll(async () => (await repl.call<Tab[]>('listTabs')).length, { timeout: 5_000 }).toBe(3);
  const popup = (await repl.call<Tab[]>('listTabs')).at(0)!;
  await repl.call('switchTab', popup);
  await repl.call('waitForLoad');
  if (await repl.call('waitForElement', '#closer', { timeoutSec: 1 })) await repl.call('click', '#closer');
  await expect.poll(async () => (await repl.call<Tab[]>('listTabs')).length, { timeout: 5_000 }).toBeLessThan(4);
  expect(await repl.call('ensureRealTab')).toMatchObject({ url: expect.stringContaining(server.origin) as string });
  for (const { targetId } of (await repl.call<Tab[]>('listTabs')).slice(1)) await repl.call('closeTab', targetId);
});

test('waiting for elements looks at every match and never throws for time', async () => {
  await open('late');
  expect(await repl.call('waitForElement', '.hit', { timeoutSec: 0.1 })).toBe(false);
  await repl.call('js', 'change()');
  expect(await repl.call('waitForElement', '.hit')).toBe(true);
  expect(await repl.call('waitForElement', '#gone', { state: 'detached' })).toBe(true);
  expect(await repl.call('waitForElement', '.hit', { state: 'hidden', timeoutSec: 0.2 })).toBe(false);
  await open('late');
  const { nodes } = await repl.call<{ nodes: { name: string; backendNodeId: number }[] }>('accessibilitySnapshot');
  const going = nodes.find(({ name }) => name === 'Gone soon')!;
  expect(await repl.call('waitForElement', going, { state: 'visible' })).toBe(true);
  await repl.call('js', 'change()');
  expect(await repl.call('waitForElement', going, { state: 'hidden' })).toBe(true);
  expect(await repl.call('waitForElement', going, { state: 'detached' })).toBe(true);
  await expect(repl.call('waitForElement', 'p', { state: 'there' })).rejects.toThrow(
    'waitForElement: state must be one of',
  );
});

test('waiting for the network needs a whole quiet interval', async () => {
  await open('short-network');
  expect(await repl.call('waitForNetworkIdle', 0.3, 5)).toBe(true);
  expect(await repl.call('js', 'count')).toBe(6);
  await open('network');
  expect(await repl.call('waitForNetworkIdle', 0.2, 0.8)).toBe(false);
  await open('plain');
  expect(await repl.call('waitForNetworkIdle', 0.5, 0.2)).toBe(false);
});

test('waits are clamped half a second before the deadline of the cell', async () => {
  const before = performance.now();
  await repl.callWithin(900, 'waitMs', 10_000);
  expect(await repl.callWithin(900, 'waitForElement', '#never-there', { timeoutSec: 10 })).toBe(false);
  await expect(repl.callWithin(900, 'click', '#never-there')).rejects.toThrow('not found');
  expect(performance.now() - before).toBeLessThan(2_700);
});

test('navigation during an evaluation ends it with an error, and the session goes on', async () => {
  await open('leaving');
  await expect(repl.call('js', 'new Promise(leave)')).rejects.toThrow('Inspected target navigated or closed');
  await repl.call('waitForLoad');
  expect(await repl.call('js', 'document.title')).toBe('Second');
});

test('a page that spins for ever lets helpers end in time, and its script can be stopped', async () => {
  await repl.call('gotoUrl', `${server.origin}/spin`);
  await repl.call('waitForElement', '#go');
  await repl.call('waitMs', 500);
  await expect(repl.callWithin(1_200, 'js', '1')).rejects.toThrow('Runtime.terminateExecution');
  expect(await repl.callWithin(1_200, 'waitForLoad')).toBe(false);
  await expect(repl.callWithin(1_200, 'click', '#go')).rejects.toThrow('the page does not answer');
  await expect(repl.callWithin(1_200, 'click', { x: 20, y: 20 })).rejects.toThrow('timed out');
  await repl.call('cdp', 'Runtime.terminateExecution');
  expect(await repl.call('js', '1 + 1')).toBe(2);
});

test('a page whose renderer dies fails in a sentence, and another address can be gone to', async () => {
  await open('deep-boxes');
  const died = await Promise.allSettled([repl.call('click', '#dig'), repl.call('waitMs', 500)]);
  expect(died).toHaveLength(2);
  await expect(repl.callWithin(3_000, 'js', '1')).rejects.toThrow();
  await open('plain');
  expect(await repl.call('js', 'document.title')).toBe('Plain');
});
