import { readdirSync } from 'node:fs';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createCellProcess, type CellProcess } from './cell-process.ts';
import type { CellChildOptions } from './cell-child.ts';
import { ECHO_HELP, ECHO_METHODS, echoCalls } from './fixtures/echo-calls.ts';

const repl = open();
afterAll(() => repl[Symbol.asyncDispose]());

function open(options: Partial<CellChildOptions> = {}): CellProcess {
  return createCellProcess({ calls: echoCalls(), methods: ECHO_METHODS, help: ECHO_HELP, ...options });
}

/** Every test leaves a runtime behind that knows nothing of what was before. */
afterEach(async () => {
  const { content, success } = await repl.execute({ code: 'repl.write(typeof left)' });
  expect({ success, content }).toEqual({
    success: true,
    content: [{ type: 'text', channel: 'write', text: 'undefined' }],
  });
});

/** How a cell ended that took its runtime with it. */
async function ending(
  code: string,
  timeoutMs = 5000,
): Promise<{ error: string | undefined; shown: number; late: number }> {
  await repl.start();
  const id = repl.replId;
  await repl.execute({ code: 'var left = 1' });
  const start = performance.now();
  const result = await repl.execute({ code, timeoutMs });
  const late = performance.now() - start - timeoutMs;
  expect(result).toMatchObject({ success: false, repl_id: id, repl_terminated: true });
  expect(result.duration_ms).toBeGreaterThanOrEqual(0);
  expect(repl.replId).toBeUndefined();
  return { error: result.error, shown: result.content?.length ?? 0, late };
}

test('a cell that waits beyond its deadline is answered with what it has shown, then ended', async () => {
  const { error, shown, late } = await ending('repl.write("a"); await new Promise(() => {})', 100);
  expect([error, shown]).toEqual(['execution timed out after 100ms', 1]);
  expect(late).toBeLessThan(1000);
});

test('a cell that spins is ended at its deadline and shows nothing', async () => {
  const { error, shown, late } = await ending('repl.write("a"); for (;;);', 100);
  expect([error, shown]).toEqual(['execution timed out after 100ms', 0]);
  expect(late).toBeLessThan(1000);
});

test('an exception that nobody catches answers the cell and ends the runtime', async () => {
  const { error, shown } = await ending(
    'repl.write("a"); setTimeout(() => { throw new Error("late") }, 0); await new Promise(() => {})',
  );
  expect([error, shown]).toEqual(['uncaught exception in browser REPL process: Error: late', 1]);
});

test('the end of the process in the middle of a cell shows nothing', async () => {
  const { error, shown } = await ending(
    'repl.write("a"); process.kill(process.pid, "SIGKILL"); await new Promise(() => {})',
  );
  expect([error, shown]).toEqual(['browser REPL process terminated during execution: it ended with SIGKILL', 0]);
  expect((await ending('process.exit(0)')).error).toMatch(/terminated during execution: it ended with code 0$/);
});

test('too much memory ends the runtime and says so', async () => {
  await using small = open({ heapMb: 64 });
  const result = await small.execute({
    code: 'const hoard = []; for (;;) hoard.push(new Array(1e5).fill(1))',
    timeoutMs: 60_000,
  });
  expect(result).toMatchObject({ success: false, repl_terminated: true });
  expect(result.error).toMatch(/terminated during execution: FATAL ERROR: .*heap out of memory/);
});

test.each([
  ['bytes that are no frame', 'fs.writeSync(4, Buffer.alloc(64, 0xff))'],
  ['a frame that is no JSON', 'frame("{")'],
  ['an unknown message', 'frame(JSON.stringify({ type: "start" }))'],
  ['an unknown key', 'frame(JSON.stringify({ type: "ready", more: 1 }))'],
  [
    'a poisoned message',
    `frame('{"type":"done","cell":1,"content":[],"contentTruncated":false,"fatal":false,"__proto__":{"error":"x"}}')`,
  ],
  [
    'an answer to another cell',
    'frame(JSON.stringify({ type: "done", cell: 99, content: [], contentTruncated: false, fatal: false }))',
  ],
  [
    'too much text',
    'frame(JSON.stringify({ type: "done", cell: 2, content: [{ type: "text", channel: "write", text: "x".repeat(262145) }], contentTruncated: false, fatal: false }))',
  ],
  [
    'one call twice',
    'frame(...[0, 0].map(() => JSON.stringify({ type: "call", id: 7, method: "click", params: [] })))',
  ],
])('%s from a cell end its runtime, and its host goes on', async (_what, forged) => {
  const { error } = await ending(`const fs = await import('node:fs');
    const frame = (...jsons) => fs.writeSync(4, Buffer.concat(jsons.flatMap((json) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(json.length);
      return [length, Buffer.from(json)];
    })));
    ${forged}; await new Promise(() => {})`);
  expect(error).toMatch(/^browser REPL process terminated during execution: it broke the protocol/);
  expect(({} as { error?: string }).error).toBeUndefined();
});

test('calls that are not offered, and more than 256 at once, are refused', async () => {
  const pending: (() => void)[] = [];
  await using busy = open({
    calls: { ...echoCalls(), call: () => new Promise((resolve) => pending.push(() => resolve(null))) },
  });
  const calls = busy.execute({
    code: `const all = Array.from({ length: 257 }, () => click().then(() => 'done', (e) => e.message));
      repl.write(await all[256]); await Promise.all(all)`,
  });
  await expect.poll(() => pending.length, { timeout: 10_000 }).toBe(256);
  for (const resolve of pending) resolve();
  expect(await calls).toMatchObject({
    success: true,
    content: [{ text: 'click: 256 calls are in flight already; await some of them first' }],
  });
});

test('thousands of calls that nobody awaits lock nothing up', async () => {
  const flood = await repl.execute({
    code: 'for (let i = 0; i < 20_000; i++) click(i).catch(() => {}); await click()',
    timeoutMs: 20_000,
  });
  expect(flood.error ?? '').not.toMatch(/timed out|terminated/);
  expect(flood.repl_terminated).toBeUndefined();
});

test('an answer made up by a cell is its answer, and costs it the runtime', async () => {
  const forged = await repl.execute({
    reset: true,
    code: `var left = 1; const json = JSON.stringify({ type: 'done', cell: 1, content: [], contentTruncated: false, fatal: false });
      const b = Buffer.alloc(4 + json.length); b.writeUInt32BE(json.length); b.write(json, 4);
      (await import('node:fs')).writeSync(4, b)`,
  });
  expect(forged).toMatchObject({ success: true });
  await expect.poll(() => repl.replId, { timeout: 5000 }).toBeUndefined();
});

test('a reset ends the runtime, with or without a cell', async () => {
  await repl.start();
  const first = repl.replId;
  await repl.execute({ code: 'var left = 1; setInterval(() => console.log("old"), 1)' });
  const reset = await repl.execute({ code: 'repl.write(typeof left)', reset: true });
  expect(reset).toMatchObject({ success: true, content: [{ text: 'undefined' }] });
  expect(reset.repl_id).not.toBe(first);
  const empty = await repl.execute({ code: '', reset: true });
  expect(empty).toEqual({ success: true, repl_id: repl.replId });
  expect(empty.repl_id).not.toBe(reset.repl_id);
});

test('cancelling a cell that runs ends its runtime', async () => {
  await repl.start();
  const controller = new AbortController();
  const spinning = repl.execute({ code: 'var left = 1; for (;;);', signal: controller.signal });
  setTimeout(() => controller.abort(new Error('enough')), 50);
  await expect(spinning).rejects.toThrow('enough');
  expect(repl.replId).toBeUndefined();
});

test('calls in flight are told when the runtime ends', async () => {
  let told = '';
  await using asking = open({
    calls: {
      ...echoCalls(),
      call: (_method, _params, { signal, cell, deadlineMs }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            told = `cell ${cell}, ${deadlineMs > 0 && deadlineMs <= 1000}`;
            reject(new Error('aborted'));
          });
        }),
    },
  });
  await asking.execute({ code: 'await click()', timeoutMs: 1000 });
  expect(told).toBe('cell 1, true');
});

test('closing while a cell runs ends it, and nothing is left', async () => {
  const descriptors = (): number => readdirSync('/proc/self/fd').length;
  await repl.start();
  const before = descriptors();
  let isRunning = false;
  const closing = open({ calls: { ...echoCalls(), call: async () => (isRunning = true) } });
  const cell = closing.execute({ code: 'click(); for (;;);' });
  await expect.poll(() => isRunning, { timeout: 10_000 }).toBe(true);
  await closing[Symbol.asyncDispose]();
  expect(await cell).toMatchObject({ success: false, repl_terminated: true });
  await expect(closing.execute({ code: '1' })).rejects.toMatchObject({ code: 'repl-closed' });
  await expect.poll(descriptors).toBe(before);
});

test('a process that cannot be started, or stays silent, is an error of the environment', async () => {
  const { spawnOwned } = await import('../util/index.ts');
  await using missing = open({
    spawn: ({ stdio }) => spawnOwned({ command: '/no/such', args: [], stdio: [...stdio] }),
  });
  await expect(missing.execute({ code: '1' })).rejects.toMatchObject({ boundary: 'env', code: 'repl-start' });
  await using leaving = open({
    spawn: ({ stdio }) => spawnOwned({ command: process.execPath, args: ['-e', 'process.exit(3)'], stdio: [...stdio] }),
  });
  await expect(leaving.execute({ code: '1' })).rejects.toThrow('it ended with code 3');
});

test('the runtime gets no variables but those given and those every program needs', async () => {
  process.env.SOME_API_KEY = 'a secret';
  try {
    await using clean = open({ env: { CDP_ENDPOINT: 'ws://127.0.0.1:1' } });
    const { content } = await clean.execute({
      code: 'repl.write([process.env.CDP_ENDPOINT, process.env.SOME_API_KEY].join())',
    });
    expect(content).toMatchObject([{ text: 'ws://127.0.0.1:1,' }]);
  } finally {
    delete process.env.SOME_API_KEY;
  }
});
