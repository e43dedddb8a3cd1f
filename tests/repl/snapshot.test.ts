// What a page looks like to a cell: accessibility tree and pictures, in a real Chromium with frames of other processes.

import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { servePages, type PageServer } from './page-server.ts';
import { startRepl, type ReplUnderTest } from './repl-under-test.ts';

type Node = {
  backendNodeId: number;
  role: string;
  name: string;
  frame?: string;
  targetId?: string;
  [state: string]: unknown;
};
type Snapshot = { url: string; title: string; nodes: Node[] };

let server: PageServer;
let repl: ReplUnderTest;
let extended: ReplUnderTest;
beforeAll(async () => {
  server = await servePages();
  // A full Chrome gives frames of another site a process of their own.
  repl = await startRepl({ prefer: 'chrome' });
  extended = await startRepl({ prefer: 'chrome', extensions: { snapshot: true } });
});
afterAll(async () => {
  await extended?.[Symbol.asyncDispose]();
  await repl?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

const open = (page: string, on = repl): Promise<void> => on.open(`${server.origin}/${page}`);

test('nodes are flat, in document order, with names on one line and states as booleans', async () => {
  await open('states');
  const { url, title, nodes } = await repl.call<Snapshot>('accessibilitySnapshot');
  expect([url, title]).toEqual([`${server.origin}/states`, 'States']);
  expect(nodes.every(({ backendNodeId }) => Number.isInteger(backendNodeId) && backendNodeId > 0)).toBe(true);
  const shown = nodes
    .filter(({ role }) => ['heading', 'checkbox', 'button', 'tab', 'textbox'].includes(role))
    .map(({ backendNodeId: _, ...node }) => node);
  expect(shown).toEqual([
    { role: 'heading', name: 'Two spaces' },
    { role: 'checkbox', name: 'On', checked: true },
    { role: 'checkbox', name: 'Off', checked: false },
    { role: 'checkbox', name: 'Half', checked: 'mixed' },
    { role: 'button', name: 'Pressed', pressed: 'mixed' },
    { role: 'button', name: 'More', expanded: false },
    { role: 'button', name: 'No', disabled: true },
    { role: 'tab', name: 'Tab', selected: true },
    { role: 'textbox', name: 'City', value: 'Kyoto' },
  ]);
  expect(nodes.filter(({ name }) => name === 'More').map(({ role }) => role)).toEqual(['button', 'StaticText']);
  expect(nodes.some(({ name }) => name === 'Hidden' || name === 'Password')).toBe(false);
});

test('the extensions are unknown options unless they are switched on', async () => {
  await open('frames');
  for (const name of ['frames', 'interactiveOnly', 'depth']) {
    await expect(repl.call('accessibilitySnapshot', { [name]: true })).rejects.toThrow(
      `accessibilitySnapshot: unknown option: ${name}`,
    );
  }
  expect((await repl.call<Snapshot>('accessibilitySnapshot')).nodes.some(({ name }) => name === 'Password')).toBe(
    false,
  );
});

test('with the extension, frames of either kind are there, and their nodes can be acted on', async () => {
  await open('frames', extended);
  expect(await extended.call('waitForNetworkIdle')).toBe(true); // though a frame went to another process on the way
  const { nodes } = await extended.call<Snapshot>('accessibilitySnapshot', { frames: true, interactiveOnly: true });
  const fields = nodes.filter(({ name }) => name === 'Password');
  expect(fields.map(({ frame }) => frame)).toEqual([
    `${server.origin}/frame?same`,
    `${server.otherOrigin}/frame?other`,
  ]);
  expect(nodes.map(({ role }) => role).filter((role) => role !== 'textbox' && role !== 'button')).toEqual([]);
  const [same, other] = nodes.filter(({ name }) => name === 'Inside');
  await extended.call('click', same);
  expect(await extended.call('js', `document.querySelector('#same').contentWindow.log`)).toEqual(['inside']);

  // Its own process: act on it by switching to it.
  const found = await extended.call<{ targetId: string; type: string }>('iframeTarget', '/frame?other');
  expect(found).toMatchObject({ type: 'iframe', targetId: other.targetId });
  expect(await extended.call('js', 'location.search', { targetId: found.targetId })).toBe('?other');
  await extended.call('switchTab', found);
  await extended.call('click', '#inside');
  await extended.call('fillInput', '#secret', 'pass');
  expect(await extended.call('js', '[...log, secret.value]')).toEqual(['inside', 'pass']);
  expect((await extended.call<Snapshot>('accessibilitySnapshot')).url).toBe(`${server.otherOrigin}/frame?other`);
  expect(await extended.call('iframeTarget', '/frame?same')).toBeNull();
  await extended.call('switchTab', (await extended.call<{ targetId: string }[]>('listTabs'))[0]);
});

test('a frame that something lies over is covered', async () => {
  await open('covered-frame', extended);
  const { nodes } = await extended.call<Snapshot>('accessibilitySnapshot', { frames: true });
  const inside = nodes.find(({ role, name }) => role === 'button' && name === 'Inside')!;
  await expect(extended.call('click', inside, { timeoutSec: 0.4 })).rejects.toThrow('intercepted');
  await extended.call('js', `document.querySelector('div').remove()`);
  await extended.call('click', inside);
});

test('large and deep pages are read whole', async () => {
  await open('many');
  const before = performance.now();
  const { nodes } = await repl.call<Snapshot>('accessibilitySnapshot');
  expect(nodes.filter(({ name }) => /^n\d+$/.test(name)).length).toBeGreaterThanOrEqual(20_000);
  expect(performance.now() - before).toBeLessThan(15_000);
  await open('deep');
  const deep = await repl.call<Snapshot>('accessibilitySnapshot');
  await repl.call(
    'click',
    deep.nodes.find(({ role }) => role === 'button'),
  );
  expect(await repl.call('js', 'document.title')).toBe('1');
}, 60_000);

async function size(path: string): Promise<{ width: number; height: number }> {
  const png = await readFile(path);
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
}

test('pictures: the viewport, the whole page, never larger than asked for and never enlarged', async () => {
  await open('scrolling');
  const { viewport, page } = await repl.call<{ viewport: object; page: object }>('pageInfo');
  const path = await repl.call<string>('captureScreenshot');
  expect(path).toBe(join(repl.folder, 'shot.png'));
  expect(await size(path)).toEqual(viewport);
  expect(await size(await repl.call('captureScreenshot', join(repl.folder, 'whole.png'), true))).toEqual(page);
  const { width, height } = await size(await repl.call('captureScreenshot', 'small.png', true, 777));
  expect(Math.max(width, height)).toBeLessThanOrEqual(777);
  expect(Math.max(width, height)).toBeGreaterThan(770);
  expect(await size(await repl.call('captureScreenshot', 'same.png', false, 5_000))).toEqual(viewport);
  await repl.call('captureScreenshot', path, false, 100);
  expect(Math.max(...Object.values(await size(path)))).toBeLessThanOrEqual(100);
});

test('pictures go nowhere but into the scratch folder, whatever links lie there', async () => {
  await open('plain');
  const outside = await mkdtemp(join(tmpdir(), 'tabwright-outside-'));
  await writeFile(join(outside, 'file.txt'), 'untouched');
  await symlink(join(outside, 'file.txt'), join(repl.folder, 'link.png'));
  await symlink(outside, join(repl.folder, 'up'));
  for (const path of [
    '/etc/shot.png',
    `../${basename(outside)}/shot.png`,
    `${repl.folder}/../shot.png`,
    'link.png',
    'up/shot.png',
    'no-folder/shot.png',
    '.',
  ]) {
    await expect(repl.call('captureScreenshot', path), path).rejects.toThrow(/^captureScreenshot: /);
  }
  expect(await readFile(join(outside, 'file.txt'), 'utf8')).toBe('untouched');
  expect(await stat('/etc/shot.png').catch(() => 'none')).toBe('none');
  await rm(outside, { recursive: true });
});

test.each([
  [['shot.png', 'yes'], 'captureScreenshot: fullPage must be a boolean'],
  [['shot.png', false, 0], 'captureScreenshot: maxDim must be a positive integer'],
  [['shot.png', false, 1.5], 'captureScreenshot: maxDim must be a positive integer'],
])('captureScreenshot(%j) is refused', async (args, message) => {
  await expect(repl.call('captureScreenshot', ...args)).rejects.toThrow(message);
});
