import { afterAll, expect, test } from 'vitest';
import type { BrowserReplResult } from './browser-repl-result.ts';
import type { CellChildOptions } from './cell-child.ts';
import { createCellProcess, type CellProcess } from './cell-process.ts';
import { ECHO_HELP, ECHO_METHODS, echoCalls } from './fixtures/echo-calls.ts';

const opened: CellProcess[] = [];
afterAll(async () => {
  for (const repl of opened) await repl[Symbol.asyncDispose]();
});

function open(options: Partial<CellChildOptions> = {}): CellProcess {
  const repl = createCellProcess({ calls: echoCalls(), methods: ECHO_METHODS, help: ECHO_HELP, ...options });
  opened.push(repl);
  return repl;
}

/** One runtime for the tests that neither end it nor fill it. */
const shared = open();
const run = (code: string, timeoutMs = 5000): Promise<BrowserReplResult> => shared.execute({ code, timeoutMs });

/** Items as `channel:text`, images as `image:type`. */
function items({ content = [] }: BrowserReplResult): string[] {
  return content.map((item) => (item.type === 'text' ? `${item.channel}:${item.text}` : `image:${item.mime_type}`));
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('an answer says what happened and nothing else', async () => {
  expect(await run('1')).toEqual({ success: true, repl_id: shared.replId, duration_ms: expect.any(Number) as number });
  expect(shared.replId).toMatch(/^[a-z][a-z0-9]{23}$/);
  expect(items(await run('repl.write(repl.id)'))).toEqual([`write:${shared.replId}`]);
});

test('channels keep their order, without newlines of their own', async () => {
  const code = `repl.write('a'); console.log('b %d', 1, { c: [1] }); console.error('d'); console.info('e');
    console.debug('f'); console.warn('g'); console.dir({ h: 1 }); await repl.emitImage('data:image/png;base64,${PNG}');
    process.stdout.write('raw\\n'); repl.write({ i: 'j' }); console.log('two\\n')`;
  expect(items(await run(code))).toEqual([
    'write:a',
    'stdout:b 1 { c: [ 1 ] }',
    'stderr:d',
    'stdout:e',
    'stdout:f',
    'stderr:g',
    'stdout:{ h: 1 }',
    'image:image/png',
    'stdout:raw\n',
    "write:{ i: 'j' }",
    'stdout:two\n',
  ]);
});

test('write shows depth 4, 100 elements and 8,192 characters of a string inside', async () => {
  const code = `repl.write({ a: { b: { c: { d: { e: { f: 1 } } } } } });
    repl.write(Array.from({ length: 102 }, () => 0)); repl.write(['x'.repeat(9000)])`;
  const [deep, long, text] = items(await run(code));
  expect(deep).toContain('e: [Object]');
  expect(long).toContain('... 2 more items');
  expect(text).toContain('... 808 more characters');
});

test('text beyond 256 KiB is cut between characters and said to be', async () => {
  const result = await run(`repl.write('é'.repeat(100_000)); repl.write('€'.repeat(100_000)); repl.write('x')`);
  const texts = items(result).map((item) => item.slice('write:'.length));
  expect(texts.map((text) => Buffer.byteLength(text))).toEqual([200_000, 62_142]);
  expect(texts[1]).toBe('€'.repeat(20_714));
  expect(result.content_truncated).toBe(true);
});

test('more than 10,000 items are dropped and said to be', async () => {
  const result = await run('for (let i = 0; i < 10_001; i++) repl.write("")');
  expect(result.content).toHaveLength(10_000);
  expect(result.content_truncated).toBe(true);
  expect((await run('repl.write("next")')).content_truncated).toBeUndefined();
});

test('error and stack are cut at 64 and 256 KiB', async () => {
  const result = await run(`const long = new Error('e'.repeat(400_000)); throw long`);
  expect([result.error?.length, result.stack?.length]).toEqual([65_536, 262_144]);
  expect(result.content_truncated).toBe(true);
});

test('images come as bytes of any kind, and their type is read from them', async () => {
  const code = `const png = Buffer.from('${PNG}', 'base64');
    const bytes = Uint8Array.from(png);
    for (const input of [png, bytes, bytes.buffer, new DataView(bytes.buffer), { bytes }, { bytes, mimeType: 'image/x-any' }])
      await repl.emitImage(input);
    (await import('node:fs')).writeFileSync('/tmp/tabwright-emit.png', png);
    await repl.emitImage({ path: '/tmp/tabwright-emit.png' });
    for (const start of ['ffd8ff00', '524946460000000057454250']) await repl.emitImage(Buffer.from(start, 'hex'));
    (await import('node:fs')).unlinkSync('/tmp/tabwright-emit.png')`;
  const result = await run(code);
  expect(result.error).toBeUndefined();
  expect(items(result).map((item) => item.slice('image:image/'.length))).toEqual([
    'png',
    'png',
    'png',
    'png',
    'png',
    'x-any',
    'png',
    'jpeg',
    'webp',
  ]);
  expect(result.content![2]).toEqual({ type: 'image', mime_type: 'image/png', data_b64: PNG });
});

test.each([
  ['"no url"', 'TypeError: emitImage: a string must be a data:image/*;base64 URL'],
  ['Buffer.from("GIF89a")', 'TypeError: emitImage: the bytes are no PNG, JPEG or WebP'],
  ['{ bytes: Buffer.from("x"), mimeType: "text/plain" }', 'TypeError: emitImage: mimeType must be image/<name>'],
  ['{ bytes: Buffer.from("x"), mimeType: "image/" + "x".repeat(128) }', 'TypeError: emitImage: mimeType must be'],
  ['Buffer.alloc(8 * 2 ** 20 + 1)', 'RangeError: emitImage: the image has 8388609 bytes; the limit is 8388608'],
  ['{ path: "/no/such/file" }', 'Error: ENOENT'],
  ['42', 'TypeError: emitImage: expected a data:image/*;base64 URL, bytes'],
])('emitImage refuses %s', async (input, error) => {
  const result = await run(`await repl.emitImage(${input})`);
  expect(result.error?.slice(0, error.length)).toBe(error);
});

test('images beyond 16 MiB of one answer are dropped with a note', async () => {
  const code = `const big = { bytes: Buffer.alloc(6 * 2 ** 20), mimeType: 'image/raw' };
    for (let i = 0; i < 3; i++) await repl.emitImage(big)`;
  const result = await run(code);
  expect(items(result)).toEqual(['image:image/raw', 'image:image/raw', expect.stringMatching(/^stderr:image dropped/)]);
  expect(result.content_truncated).toBe(true);
});

test('what comes between cells stands before the next cell, the newest 1,000 items of it', async () => {
  await run('setTimeout(() => { for (let i = 0; i < 1200; i++) console.log(i) }, 0)');
  await expect.poll(async () => items(await run('console.log("cell")')).length, { timeout: 5000 }).toBe(1001);
  await run(
    'setTimeout(() => console.log("stray"), 0); Promise.resolve().then(() => setTimeout(() => Promise.reject(new Error("lost")), 0))',
  );
  await new Promise((resolve) => setImmediate(resolve));
  let seen: string[] = [];
  await expect.poll(async () => (seen = [...seen, ...items(await run('0'))]).length, { timeout: 5000 }).toBe(2);
  expect(seen[0]).toBe('stdout:stray');
  expect(seen[1]).toMatch(/^stderr:Unhandled promise rejection: Error: lost\n/);
});

test('help shows the index or one method, and knows no others', async () => {
  expect(items(await run('repl.help(); repl.help("click"); repl.help("browser.click") === "click(target)"'))).toEqual([
    'write:click, scroll, typeText',
    'write:click(target)',
    'write:click(target)',
  ]);
  expect((await run('repl.help("nothing")')).error).toBe(
    "Error: repl.help: unknown method: 'nothing'; repl.help() lists all",
  );
});

test('methods are asked of the host, under both names, and answer with objects of the cell', async () => {
  const code = `const asked = [await click('a', { b: [1n, NaN, -0, undefined] }), await browser.scroll(2)];
    repl.write(JSON.stringify(asked, (_, v) => typeof v === 'bigint' ? 'big' + v : Number.isNaN(v) ? 'nan' : v === undefined ? 'none' : v));
    repl.write([asked[0] instanceof Object, asked[0].params instanceof Array, click('x') instanceof Promise].join())`;
  expect(items(await run(code))).toEqual([
    'write:[{"method":"click","params":["a",{"b":["big1","nan",0,"none"]}]},{"method":"scroll","params":[2]}]',
    'write:true,true,true',
  ]);
});

test('waitForEvent asks again, from the event it refused on, and refuses wrong arguments before there is a promise', async () => {
  const asked: unknown[] = [];
  const repl = open({
    calls: {
      ...echoCalls(),
      call: async (_method, params) => {
        asked.push(params);
        return asked.length > 3
          ? null
          : { sequence: asked.length, event: { method: 'A.b', params: { n: asked.length } } };
      },
    },
  });
  const found = await repl.execute({
    code: `repl.write((await waitForEvent('A.b', { sessionId: null, predicate: (e) => e.params.n === 2 })).params.n)`,
  });
  expect(items(found)).toEqual(['write:2']);
  const left = expect.closeTo(30, 0) as number;
  expect(asked).toEqual([
    ['A.b', { sessionId: null, timeoutSec: left }],
    ['A.b', { sessionId: null, timeoutSec: left, sequence: 1 }],
  ]);
  const wrong = await repl.execute({
    code: `for (const args of [[], ['A.b', { predicate: 1 }], ['A.b', { other: 1 }], ['A.b', { timeoutSec: -1 }]])
      try { waitForEvent(...args); repl.write('none') } catch (e) { console.log(e.message) }
    await waitForEvent('A.b', { predicate() { throw new Error('mine') } })`,
  });
  expect([wrong.error, ...items(wrong)]).toEqual([
    'Error: mine',
    'stdout:waitForEvent: method must be a non-empty string',
    'stdout:waitForEvent: predicate must be a function',
    'stdout:waitForEvent: unknown option: other',
    'stdout:waitForEvent: timeoutSec must be a finite number of seconds, 0 or more',
  ]);
  expect(items(await repl.execute({ code: `repl.write(await browser.waitForEvent('A.b'))` }))).toEqual(['write:null']);
});

test('a note of the host stands among the output', async () => {
  shared.note('a dialog was open');
  expect(items(await run('repl.write(1)'))).toEqual(['stderr:a dialog was open', 'write:1']);
});

test('an error of a method is an error of the cell, with the place of the call', async () => {
  const { TabwrightError } = await import('../core/index.ts');
  const repl = open({
    calls: {
      ...echoCalls(),
      call: async () => {
        throw new TabwrightError('browser', 'click: not visible', {
          code: 'x',
          details: { name: 'TypeError', properties: { statusCode: 4, big: { $bigint: '7' } } },
        });
      },
    },
  });
  const result = await repl.execute({ code: '\n\nasync function act() {\n  await click("#a");\n}\nawait act();' });
  expect(result.error).toBe('TypeError: click: not visible');
  expect(result.stack).toMatch(
    /^TypeError: click: not visible\n\s+at act \(browser-repl-cell-1\.mjs:4:9\)\n.*cell-1\.mjs:6:/,
  );
  const caught = await repl.execute({
    code: 'try { await click() } catch (e) { repl.write([e instanceof TypeError, e.statusCode, typeof e.big].join()) }',
  });
  expect(items(caught)).toEqual(['write:true,4,bigint']);
});

test.each([
  ['a throw', "let a;\n\nthrow new Error('x')", 'Error: x', 3, 7],
  [
    'an error after an await',
    'await 0;\nawait 0;\n  null.x',
    "TypeError: Cannot read properties of null (reading 'x')",
    3,
    8,
  ],
  [
    'after declarations on many lines',
    'var b = {\n  c: [\n    1\n  ]\n}, d =\n  2\nfunction e() {\n\n}\nnull.y',
    "TypeError: Cannot read properties of null (reading 'y')",
    10,
    6,
  ],
  [
    'on the first line, after var and const',
    'const f = 1; var g = 2; null.z',
    "TypeError: Cannot read properties of null (reading 'z')",
    1,
    30,
  ],
  ['a syntax error', 'let h = 1;\nlet i = ;', 'SyntaxError: Unexpected token (2:8)', 2, 9],
])('the stack of %s names its line and column', async (_what, code, error, line, column) => {
  const result = await run(`${code}`);
  expect(result.error).toBe(error);
  expect(
    /cell-\d+\.mjs:(\d+):(\d+)/
      .exec(result.stack ?? '')
      ?.slice(1)
      .map(Number),
  ).toEqual([line, column]);
  expect(result.stack).not.toMatch(/node:internal|cell-runtime|run-cell/);
});

test('a function of an earlier cell is named with its own cell and line', async () => {
  await run('function thrower() {\n  throw new RangeError("deep")\n}');
  const { stack } = await run('\nthrower()');
  const [first, second] = [...stack!.matchAll(/(\w* ?)\(?browser-repl-cell-(\d+)\.mjs:(\d+)/g)];
  expect([first[1], first[3], second[3]]).toEqual(['thrower ', '2', '2']);
  expect(Number(second[2]) - Number(first[2])).toBe(1);
});

test.each([
  ['throw 5', '5'],
  ['throw "text"', 'text'],
  ['throw { a: 1 }', '{ a: 1 }'],
  ['throw undefined', 'undefined'],
  [
    'throw Object.defineProperty(new Error(), "message", { get() { throw 1 } })',
    'an error that cannot be shown: reading it throws',
  ],
  [
    'throw new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 } })',
    'an error that cannot be shown: reading it throws',
  ],
  ['AbortSignal.abort().throwIfAborted()', 'AbortError: This operation was aborted'],
  ['class Own extends Error { name = "Own" } throw new Own("m")', 'Own: m'],
])('%s is answered', async (code, error) => {
  expect((await run(`{ ${code} }`)).error).toBe(error);
});

test('cells that come together run one after the other', async () => {
  await run('globalThis.order = []');
  const cell = (n: number): Promise<BrowserReplResult> =>
    run(`order.push('in${n}'); await new Promise((r) => setTimeout(r, 5)); order.push('out${n}')`);
  await Promise.all([cell(1), cell(2), cell(3)]);
  expect(items(await run('repl.write(order.join())'))).toEqual(['write:in1,out1,in2,out2,in3,out3']);
});

test('a cell that is cancelled while it waits for its turn has not run, and the runtime lives', async () => {
  const before = shared.replId;
  const controller = new AbortController();
  const first = run('globalThis.ran = false; await new Promise((r) => setTimeout(r, 50))');
  const second = shared.execute({ code: 'globalThis.ran = true', signal: controller.signal });
  controller.abort(new Error('enough'));
  await expect(second).rejects.toThrow('enough');
  expect((await first).success).toBe(true);
  expect(items(await run('repl.write(ran)'))).toEqual(['write:false']);
  expect(shared.replId).toBe(before);
});

test('requests that make no sense are refused', async () => {
  await expect(shared.execute({ code: '' })).rejects.toMatchObject({ code: 'cell-empty' });
  await expect(shared.execute({ code: ' '.repeat(8 * 2 ** 20 + 1) })).rejects.toMatchObject({ code: 'cell-too-large' });
  await expect(shared.execute({ code: '1', timeoutMs: 300_001 })).rejects.toMatchObject({ code: 'cell-timeout' });
  await expect(shared.execute({ code: '1', timeoutMs: NaN })).rejects.toMatchObject({ code: 'cell-timeout' });
});

test('a cell that changes prototypes and JSON changes nothing for its host', async () => {
  const repl = open();
  const code = `JSON.stringify = () => 'no'; JSON.parse = () => { throw 1 };
    Object.prototype.toJSON = () => 'no'; Object.prototype.success = false; Object.prototype.error = 'forged';
    Object.prototype.type = 'ready';
    Array.prototype.toJSON = () => []; Array.prototype.push = () => { throw 3 }; Array.prototype[Symbol.iterator] = null;
    String.prototype.slice = () => 'no'; String.prototype.toString = () => 'no'; Map.prototype.get = () => 'no';
    try { Promise.prototype.then = null } catch {} Error.prototype.toString = () => 'no';
    Function.prototype.call = Function.prototype.apply = () => 'no';
    Object.defineProperty(Object.prototype, '0', { set() { throw 4 }, get() { return 'no' }, configurable: true });
    globalThis.Promise = globalThis.Error = globalThis.Object = undefined;`;
  expect(await repl.execute({ code })).toMatchObject({ success: true });
  const next = await repl.execute({
    code: `let kept = 1; const { a } = { a: 2 }; console.log('shown %s', 1); repl.write(a)`,
  });
  expect({ error: next.error, items: items(next) }).toEqual({ error: undefined, items: ['stdout:shown 1', 'write:2'] });
  expect((await repl.execute({ code: 'kept = null.x' })).error).toMatch(/^TypeError: Cannot read properties of null/);
  expect(items(await repl.execute({ code: `const r = await click('x'); repl.write(r.method)` }))).toEqual([
    'write:click',
  ]);
});

test('a cell cannot make Node believe that it has ended', async () => {
  expect((await run('Promise.prototype.then = null')).error).toMatch(
    /^TypeError: Cannot assign to read only property 'then'/,
  );
});
