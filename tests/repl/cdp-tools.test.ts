// Tools that run in the cell that added them, from end to end: added, listed, invoked with every helper at hand, checked
// against their schemas, and gone with the session.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLocalSession, type ReplSession } from '../../src/repl/index.ts';
import { probe } from '../sandbox/jail.ts';
import { servePages, type PageServer } from './page-server.ts';

let server: PageServer;
let session: ReplSession;
beforeAll(async () => {
  server = await servePages();
  const egress = [{ host: '127.0.0.1', port: Number(new URL(server.origin).port) }];
  const jail = probe.available ? probe : 'unsafe-local';
  session = await openLocalSession({ jail, egress }, new AbortController().signal);
}, 60_000);
afterAll(async () => {
  await session?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

async function shown(code: string, reset = false): Promise<string> {
  const { error, content = [] } = await session.execute({ code, reset });
  return error ?? content.map((item) => (item.type === 'text' ? item.text : '')).join('');
}

test(
  'a tool of the cell uses helpers, keeps to its schemas, and ends with its session',
  { timeout: 60_000 },
  async () => {
    const added = await shown(`
    await gotoUrl('${server.origin}/fields');
    await waitForLoad();
    var calls = 0;
    var added = await webmcp.addCustomTools({
      namespace: 'mine',
      tools: [{
        kind: 'cdp',
        match: { url_patterns: ['${server.origin}/*'] },
        tool: {
          name: 'fill',
          description: 'Fills the line',
          inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
          outputSchema: { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] },
        },
        execute: async ({ text }, { signal, matches }) => {
          calls++;
          if (text === 'throw') throw new Error('mine');
          if (text === 'wrong') return { value: 1 };
          if (text === 'slow') return new Promise((resolve) => signal.addEventListener('abort', resolve));
          await fillInput('#line', text);
          return { value: await js('line.value'), on: matches[0].url };
        },
      }],
    });
    repl.write(added.map(({ id, kind }) => id + ' ' + kind).join());`);
    expect(added).toBe('ct_1 cdp');

    const invoke = (input: string, more = ''): Promise<string> =>
      shown(`var { tool_ref } = (await webmcp.listTools()).find(({ tool }) => tool.name === 'fill');
      repl.write(JSON.stringify(await webmcp.invokeTool(tool_ref, ${input}${more})));`);
    expect(JSON.parse(await invoke(`{ text: 'tea' }`))).toEqual({
      invocation_id: 'invocation_1',
      status: 'completed',
      output: { value: 'tea', on: `${server.origin}/fields` },
    });
    expect(JSON.parse(await invoke(`{ text: 'wrong' }`))).toMatchObject({
      status: 'error',
      error_text: expect.stringContaining(`the output does not fit the tool's schema`) as string,
    });
    expect(JSON.parse(await invoke(`{ text: 'throw' }`))).toMatchObject({ status: 'error', error_text: 'mine' });
    expect(JSON.parse(await invoke(`{ text: 'slow' }`, ', { timeoutSec: 1 }'))).toMatchObject({
      status: 'error',
      error_text: expect.stringContaining('did not end within 1s') as string,
    });
    // What does not fit does not run.
    expect(JSON.parse(await invoke('{}'))).toMatchObject({ status: 'error' });
    expect(await shown('repl.write(calls)')).toBe('4');
    // Each invocation is one action, and the typing in it another.
    const acts = session.log!.entries.filter(({ effect }) => effect === 'acts').map(({ helper }) => helper);
    expect(acts.filter((helper) => helper === 'webmcp.invokeTool')).toHaveLength(5);
    expect(acts.filter((helper) => helper === 'fillInput')).toHaveLength(1);

    await shown('', true);
    expect(await shown(`repl.write((await webmcp.listCustomTools()).length + ' ' + typeof calls)`)).toBe('0 undefined');
  },
);
