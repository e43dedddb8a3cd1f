import { afterAll, expect, test } from 'vitest';
import { probeSandbox } from '../sandbox/index.ts';
import { createCellProcess, type CellProcess } from './cell-process.ts';
import { ECHO_HELP, ECHO_METHODS, echoCalls } from './fixtures/echo-calls.ts';
import { jailedCell } from './jailed-cell.ts';

const probe = await probeSandbox();
const whyNot = probe.available ? '' : ` (skipped: ${probe.reason})`;
const options = { calls: echoCalls(), methods: ECHO_METHODS, help: ECHO_HELP };

let repl: CellProcess | undefined;
afterAll(() => repl?.[Symbol.asyncDispose]());

async function shown(expression: string): Promise<string> {
  repl ??= createCellProcess({ ...options, ...jailedCell({ probe }) });
  const { content = [], error } = await repl.execute({ code: `repl.write(${expression})` });
  return error ?? content.map((item) => (item.type === 'text' ? item.text : '')).join('');
}

test.skipIf(!probe.available)(`a jailed cell computes, calls its host and imports${whyNot}`, async () => {
  expect(await shown('1 + 1')).toBe('2');
  expect(await shown('(await click("#a")).method')).toBe('click');
  expect(
    await shown('[typeof (await import("node:fs")).readFileSync, typeof (await import("acorn")).parse].join()'),
  ).toBe('function,function');
  expect(await shown('await import("zod").catch((e) => e.code)')).toBe('ERR_MODULE_NOT_FOUND');
});

test.skipIf(!probe.available)(`it sees no file, variable or process of the host${whyNot}`, async () => {
  expect(await shown('Object.keys(process.env).sort().join()')).toBe('HOME,LANG,PATH,PWD');
  expect(await shown(`(await import("node:fs")).existsSync(${JSON.stringify(import.meta.dirname)})`)).toBe('false');
  expect(await shown('(await import("node:fs")).readdirSync("/opt/tabwright/src/repl").sort().join()')).toBe(
    'cell,wire-values.ts',
  );
  expect(await shown('await fetch("http://127.0.0.1:1").catch((e) => e.message)')).toBe('fetch failed');
});

test.skipIf(!probe.available)(`it ends at its deadline and starts again${whyNot}`, async () => {
  await shown('0');
  const spinning = await repl!.execute({ code: 'for (;;);', timeoutMs: 100 });
  expect(spinning).toMatchObject({ error: 'execution timed out after 100ms', repl_terminated: true });
  expect(await shown('2 + 2')).toBe('4');
});

test('without a jail that holds there is no process', () => {
  const refused = { available: false, reason: 'none here', remedy: 'install it', checks: [], nestedSandbox: false };
  expect(() => jailedCell({ probe: refused })).toThrow(/none here/);
});
