// Clicking and scrolling in a real Chromium: which element is meant, when it can be clicked, and what arrives in the page.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { servePages, type PageServer } from './page-server.ts';
import { startRepl, type ReplUnderTest } from './repl-under-test.ts';

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

test('hidden twins do not count, and the click is a trusted one', async () => {
  await open('hidden-duplicates');
  await repl.call('click', '.go');
  expect(await log()).toEqual(['visible true']);
});

test('button and clickCount are those of a hand', async () => {
  await open('hidden-duplicates');
  await repl.call('click', '.go', { clickCount: 2 });
  await repl.call('click', '.go', { button: 'middle' });
  await repl.call('click', '.go', { button: 'right' });
  expect(await log()).toEqual(['visible true', 'visible true', 'double', 'aux 1', 'menu', 'aux 2']);
});

test('several visible matches are refused at once, with their number', async () => {
  await open('several-visible');
  const before = performance.now();
  await expect(repl.call('click', '.go')).rejects.toThrow('click: ".go" matches 2 visible elements');
  expect(performance.now() - before).toBeLessThan(2_000);
});

test('a selector that is none is refused at once, in the words of the page', async () => {
  await open('plain');
  await expect(repl.call('click', 'p[')).rejects.toThrow("'p[' is not a valid selector");
});

test.each([
  ['covered', '#under', 'intercepted'],
  ['covered', '#out', 'outside viewport'],
  ['moving', '#move', 'moving'],
  ['disabled', '#native', 'disabled'],
  ['disabled', '#aria', 'disabled'],
  ['plain', '#nothing', 'not found'],
  ['selects', '#list', 'not visible'],
])('on %s, %s is not clicked, because it is %s', async (page, selector, status) => {
  await open(page);
  await expect(repl.call('click', selector, { timeoutSec: 0.6 })).rejects.toThrow(
    `click: ${JSON.stringify(selector)} was not ready within 0.6s: ${status}`,
  );
  if (page !== 'plain') expect(await log()).toEqual([]);
});

test('what becomes ready while it is waited for is clicked', async () => {
  await open('moving');
  const clicked = repl.call('click', '#move');
  await repl.call('js', 'void setTimeout(() => (stopped = true), 300)');
  await clicked;
  expect(await log()).toEqual(['caught']);
  await open('covered');
  const uncovered = repl.call('click', '#under');
  await repl.call('js', 'void setTimeout(() => cover.remove(), 200)');
  await uncovered;
  expect(await log()).toEqual(['under']);
});

test('what is far below is scrolled to; a descendant that is hit is the element', async () => {
  await open('far');
  await repl.call('click', '#far');
  expect(await log()).toEqual(['far']);
  await open('covered');
  await repl.call('click', '#label');
  expect(await log()).toEqual(['inner']);
});

test('a node of the accessibility tree is clicked, in a closed shadow root too', async () => {
  await open('shadow');
  const { nodes } = await repl.call<{ nodes: { role: string; name: string; backendNodeId: number }[] }>(
    'accessibilitySnapshot',
  );
  await repl.call(
    'click',
    nodes.find(({ role, name }) => role === 'button' && name === 'Closed'),
  );
  await repl.call(
    'fillInput',
    nodes.find(({ name }) => name === 'Closed field'),
    'typed inside',
  );
  expect(await log()).toEqual(['closed']);
  expect(await repl.call('js', 'typed')).toBe('typed inside');
});

test('a node that has left the page is not found', async () => {
  await open('shadow');
  const { nodes } = await repl.call<{ nodes: { role: string; backendNodeId: number }[] }>('accessibilitySnapshot');
  const button = nodes.find(({ role }) => role === 'button')!;
  await repl.call('js', 'host.remove()');
  await expect(repl.call('click', button, { timeoutSec: 1.5 })).rejects.toThrow('not found');
  await open('plain');
  await expect(repl.call('click', button, { timeoutSec: 1.5 })).rejects.toThrow('not found');
});

test('a point is clicked at once, and has no time to wait for', async () => {
  await open('covered');
  await repl.call('js', 'cover.remove()');
  await repl.call('click', { x: 50, y: 40 });
  expect(await log()).toEqual(['under']);
  await expect(repl.call('click', { x: 50, y: 40 }, { timeoutSec: 1 })).rejects.toThrow('click: timeoutSec');
});

test.each([
  [[''], 'click: target must be'],
  [[{ backendNodeId: 0 }], 'click: target must be'],
  [[{ x: Number.NaN, y: 1 }], 'click: target must be'],
  [['p', { timeout: 3 }], 'click: unknown option: timeout'],
  [['p', { button: 'back' }], 'click: button must be "left", "right" or "middle"'],
  [['p', { clickCount: 1.5 }], 'click: clickCount must be a positive integer'],
  [['p', { timeoutSec: -1 }], 'click: timeoutSec must be'],
])('click(%j) is refused: %s', async (args, message) => {
  await expect(repl.call('click', ...args)).rejects.toThrow(message);
});

test('scrolling is by pixels, upwards unless told otherwise', async () => {
  await open('scrolling');
  const place = (): Promise<{ x: number; y: number }> => repl.call('js', '({ x: scrollX, y: scrollY })');
  const reached = (x: number, y: number): Promise<unknown> =>
    expect.poll(async () => place(), { timeout: 3_000 }).toEqual({ x, y });
  await repl.call('scroll', 200, 200, 900, 500);
  await reached(500, 900);
  await repl.call('scroll', 200, 200);
  await reached(500, 600);
  await expect(repl.call('scroll', 200)).rejects.toThrow('scroll: y must be a finite number');
});

test('in a page of 20,000 nodes, and in one 5,000 deep, the one button is found and clicked', async () => {
  await open('many');
  await repl.call('click', '#last');
  expect(await repl.call('js', 'document.title')).toBe('Clicked');
  await open('deep');
  await repl.call('click', '#bottom');
  expect(await repl.call('js', 'document.title')).toBe('1');
});
