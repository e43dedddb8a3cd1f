import { afterAll, expect, test } from 'vitest';
import { createCellProcess } from './cell-process.ts';
import { ECHO_HELP, ECHO_METHODS, echoCalls } from './fixtures/echo-calls.ts';

const options = { calls: echoCalls(), methods: ECHO_METHODS, help: ECHO_HELP };
const kernel = createCellProcess(options);
const train = createCellProcess({ ...options, profile: 'train' });
const relaxed = createCellProcess({ ...options, relaxedRedeclaration: true });
afterAll(async () => {
  for (const repl of [kernel, train, relaxed]) await repl[Symbol.asyncDispose]();
});

async function shown(repl: typeof kernel, expression: string): Promise<string> {
  const { content = [], error } = await repl.execute({ code: `repl.write(${expression})` });
  return error ?? content.map((item) => (item.type === 'text' ? item.text : '')).join('');
}

const GLOBALS = [
  ...['console', 'repl', 'browser', 'webmcp', 'click', 'setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'],
  ...['queueMicrotask', 'Buffer', 'process', 'fetch', 'URL', 'URLSearchParams', 'TextEncoder', 'TextDecoder'],
  ...['AbortController', 'AbortSignal', 'structuredClone', 'atob', 'btoa', 'crypto'],
];

test.each([['kernel', kernel] as const, ['train', train] as const])(
  'the profile %s has all globals',
  async (_, repl) => {
    expect(
      await shown(repl, `${JSON.stringify(GLOBALS)}.filter((name) => typeof globalThis[name] === 'undefined').join()`),
    ).toBe('');
    expect(
      await shown(
        repl,
        '[webmcp === browser.webmcp, browser.click === click, Object.isFrozen(browser), Object.isFrozen(repl), Object.isFrozen(webmcp)].join()',
      ),
    ).toBe('true,true,true,true,true');
    expect(await shown(repl, '[typeof require, typeof module, typeof dispatchKey].join()')).toBe(
      'undefined,undefined,undefined',
    );
  },
);

test('the profile train has no process, no network of its own, few modules and no way to functions outside', async () => {
  expect(await shown(train, 'Object.keys(process).join()')).toBe('platform,arch,version,versions,env');
  expect(await shown(train, 'await fetch("http://127.0.0.1/")')).toMatch(/^Error: fetch is off in the train profile/);
  for (const name of [
    'node:fs',
    'child_process',
    'process',
    'node:module',
    'acorn',
    'data:text/javascript,0',
    './x.mjs',
  ]) {
    expect(await shown(train, `await import('${name}')`)).toMatch(
      /^Error: import of .* is not allowed here; allowed: assert, /,
    );
  }
  expect(
    await shown(train, '(await import("node:util")).format("%d", 1) + (await import("path")).join("a", "b")'),
  ).toBe('1a/b');
  expect(await shown(train, 'Buffer.constructor("return process")().pid')).toMatch(
    /^EvalError: Code generation from strings disallowed/,
  );
  expect(
    await shown(
      train,
      '[console.constructor.constructor, console.log.constructor, repl.write.constructor].map((f) => f("return typeof process.pid")()).join()',
    ),
  ).toBe('undefined,undefined,undefined');
  expect(await shown(train, 'new Function("return 1 + 1")()')).toBe('2');
});

test('the profile kernel has the whole of Node', async () => {
  expect(await shown(kernel, '[typeof process.pid, typeof (await import("node:fs")).readFileSync].join()')).toBe(
    'number,function',
  );
});

test('with relaxed redeclaration a cell can be run again, also after it failed', async () => {
  const cell =
    'const a = 1; let b, { c, d = 2 } = { c: a }; class E { f() { return c } }; function g() { return new E().f() + d }';
  for (let i = 0; i < 2; i++) expect((await relaxed.execute({ code: cell })).error).toBeUndefined();
  expect(await shown(relaxed, '[a, b, c, d, g(), E.name].join()')).toBe('1,,1,2,3,E');
  await relaxed.execute({ code: 'const e = (() => { throw new Error("boom") })()' });
  await relaxed.execute({ code: 'const e = 5\nlet b = 6\nclass E { f() { return 7 } }\n(e)\nvar a = 8; let g = 9' });
  expect(await shown(relaxed, '[a, b, e, new E().f(), g].join()')).toBe('8,6,5,7,9');
  await relaxed.execute({ code: 'let b' });
  expect(await shown(relaxed, 'typeof b')).toBe('undefined');
  expect((await relaxed.execute({ code: 'const browser = 1' })).error).toMatch(/^SyntaxError: Identifier 'browser'/);
  expect((await relaxed.execute({ code: 'let twice; let twice' })).error).toMatch(/^SyntaxError: Identifier 'twice'/);
  const closures = 'let n = 1; function old() { return n }';
  await relaxed.execute({ code: closures });
  await relaxed.execute({ code: 'let n = 2' });
  expect(await shown(relaxed, 'old()')).toBe('2');
});
