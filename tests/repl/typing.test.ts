// Typing in a real Chromium: fields, editors that accept nothing but keys, single keys and their modifiers.

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
const valueOf = (id: string): Promise<string> => repl.call('js', `${id}.value ?? ${id}.textContent`);

test('a field is cleared, typed into key by key, and told that it changed', async () => {
  await open('fields');
  await repl.call('fillInput', '#line', 'Aé1');
  expect(await valueOf('line')).toBe('Aé1');
  const log = await repl.call<string[]>('js', 'log');
  const typed = ['A', 'é', '1'].flatMap((key) => [`down ${key}`, `press ${key}`, 'input', `up ${key}`]);
  expect(log.slice(log.indexOf('down A'))).toEqual([...typed, 'input', 'change']);
});

test('clearing is left out on request, and text areas and editable elements are fields', async () => {
  await open('fields');
  await repl.call('js', 'line.setSelectionRange(8, 8)');
  await repl.call('fillInput', '#line', '!', { clearFirst: false });
  expect(await valueOf('line')).toBe('old text!');
  await repl.call('fillInput', '#area', 'two\nlines');
  expect(await valueOf('area')).toBe('two\nlines');
  await repl.call('fillInput', '#editable', 'after');
  expect(await repl.call('js', 'editable.innerText')).toBe('after');
  await repl.call('fillInput', '#late', 'waited for');
  expect(await valueOf('late')).toBe('waited for');
});

test('an editor that throws away what comes from no key keeps what fillInput types', async () => {
  await open('editor');
  await repl.call('click', '#editor');
  await repl.call('typeText', 'dropped');
  expect(await repl.call('js', 'model')).toBe('');
  await repl.call('fillInput', '#editor', 'Kept, every Key');
  expect(await repl.call('js', 'model')).toBe('Kept, every Key');
  await repl.call('fillInput', '#editor', 'anew');
  expect(await repl.call('js', 'model')).toBe('anew');
});

test.each(['#readonly', '#check', '#file'])('%s is not editable', async (selector) => {
  await open('fields');
  await expect(repl.call('fillInput', selector, 'x', { timeoutSec: 1.5 })).rejects.toThrow('not editable');
});

test('a select is not editable, a field in a disabled fieldset is disabled', async () => {
  await open('selects');
  await expect(repl.call('fillInput', '#native', 'Pear', { timeoutSec: 1.5 })).rejects.toThrow('not editable');
  await open('disabled');
  await expect(repl.call('fillInput', '#field', 'x', { timeoutSec: 1.5 })).rejects.toThrow('disabled');
});

test('selects are chosen by script, fake ones by clicking', async () => {
  await open('selects');
  await repl.call('js', `native.value = 'b', native.dispatchEvent(new Event('change', { bubbles: true }))`);
  await repl.call('click', '#fake');
  await repl.call('click', '#list li:first-child');
  expect(await repl.call('js', 'log')).toEqual(['native b', 'fake apple']);
});

test('typeText inserts where the focus is', async () => {
  await open('fields');
  await repl.call('click', '#area');
  await repl.call('typeText', 'héllo 🙂');
  expect(await valueOf('area')).toBe('héllo 🙂');
});

test.each([
  [['a'], { key: 'a', code: 'KeyA', keyCode: 65 }, 'a'],
  [['A'], { key: 'A', code: 'KeyA', keyCode: 65 }, 'A'],
  [['Digit1', ['Shift']], { key: '!', code: 'Digit1', keyCode: 49 }, '!'],
  [['-', 8], { key: '_', code: 'Minus', keyCode: 189 }, '_'],
  [['spacebar'], { key: ' ', code: 'Space', keyCode: 32 }, ' '],
  [['Numpad7'], { key: '7', code: 'Numpad7', keyCode: 103, location: 3 }, '7'],
  [['ß'], { key: 'ß', code: '', keyCode: 0 }, 'ß'],
  [['esc'], { key: 'Escape', code: 'Escape', keyCode: 27 }, ''],
  [['ARROWDOWN'], { key: 'ArrowDown', code: 'ArrowDown', keyCode: 40 }, ''],
  [['F13'], { key: 'F13', code: 'F13', keyCode: 124 }, ''],
  [['x', { ctrl: true, shift: false }], { key: 'x', code: 'KeyX', held: '0100' }, ''],
  [['MediaPlayPause'], { key: 'MediaPlayPause', keyCode: 179 }, ''],
  [['cmd'], { key: 'Meta', code: 'MetaLeft', location: 1 }, ''],
])('pressKey(%j) is that key', async (args, expected, typed) => {
  await open('keys');
  await repl.call('click', '#field');
  await repl.call('pressKey', ...args);
  const keys = await repl.call<{ type: string }[]>('js', 'keys');
  expect(keys[0]).toMatchObject({ type: 'keydown', ...expected });
  expect(keys.map(({ type }) => type)).toEqual(typed === '' ? ['keydown', 'keyup'] : ['keydown', 'keypress', 'keyup']);
  expect(await valueOf('field')).toBe(typed);
});

test('a key that there is not, and a modifier that there is not, throw', async () => {
  await expect(repl.call('pressKey', 'Bogus')).rejects.toThrow('pressKey: unknown key: Bogus');
  await expect(repl.call('pressKey', 'a', ['Hyper'])).rejects.toThrow('pressKey: unknown modifier: Hyper');
  await expect(repl.call('pressKey', 'a', { hyper: false })).rejects.toThrow('pressKey: unknown modifier: hyper');
  await expect(repl.call('pressKey', 'a', 16)).rejects.toThrow('pressKey: modifiers must be');
  await expect(repl.call('pressKey', '')).rejects.toThrow('pressKey: key must be a non-empty string');
  await expect(repl.call('typeText', 1)).rejects.toThrow('typeText: text must be a string');
  await expect(repl.call('fillInput', '#line', 'x', { clear: true })).rejects.toThrow(
    'fillInput: unknown option: clear',
  );
});
