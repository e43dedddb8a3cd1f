// Escape attempts against the host's side of the cells: forged and damaged frames, polluted prototypes, ways out of the
// language's realm. The host answers the next cell as if nothing had been, and nothing of the host is seen.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCellProcess, jailedCell, type BrowserReplResult, type CellProcess } from '../../src/repl/index.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';
import { createHost, type Host } from './targets.ts';

type Call = { readonly method: string; readonly params: readonly unknown[] };

const METHODS = [
  { name: 'click', namespace: 'browser' as const },
  { name: 'write', namespace: 'repl' as const },
];

/** Puts a message on the descriptor that leads to the host. */
const FORGE = `
  const fs = await import('node:fs');
  const send = (value) => { const json = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)); const length = Buffer.alloc(4); length.writeUInt32BE(json.length); fs.writeSync(4, Buffer.concat([length, json])); };
  const done = (cell, text) => ({ type: 'done', cell, content: [{ type: 'text', channel: 'write', text }], contentTruncated: false, fatal: false });
`;

const FORGERIES: readonly (readonly [name: string, code: string])[] = [
  ['an answer to a cell that has not been asked', `send(done(999, 'forged'))`],
  ['an answer to the cell after it', `for (let cell = 1; cell < 50; cell++) send(done(cell, 'forged'))`],
  ['a call of a method that there is not', `send({ type: 'call', id: 1, method: 'browser.evil', params: [] })`],
  [
    'a call of what every object has',
    `send({ type: 'call', id: 1, method: 'constructor', params: [] }); send({ type: 'call', id: 2, method: '__proto__', params: [] })`,
  ],
  [
    'a thousand calls at once',
    `for (let id = 1; id <= 1000; id++) send({ type: 'call', id, method: 'browser.click', params: [] })`,
  ],
  ['a message with more than it may hold', `send({ type: 'ready', admin: true })`],
  ['a message of no kind', `send({ type: 'evil' })`],
  [
    'a polluting message',
    `send('{"type":"call","id":1,"method":"browser.click","params":[{"__proto__":{"polluted":true}}],"__proto__":{"polluted":true}}')`,
  ],
  ['what is no JSON', `send('{"type":')`],
  [
    'a text of bytes that are none',
    `fs.writeSync(4, Buffer.concat([Buffer.from([0, 0, 0, 4]), Buffer.from([255, 254, 253, 252])]))`,
  ],
  ['a frame of four gigabytes', `fs.writeSync(4, Buffer.from([255, 255, 255, 255]))`],
  ['half a frame', `fs.writeSync(4, Buffer.from([0, 0, 1, 0, 123]))`],
  ['a closed line', `fs.closeSync(4)`],
  [
    'an answer of a gigabyte',
    `const big = 'x'.repeat(1 << 20); for (let i = 0; i < 64; i++) send({ type: 'call', id: i + 1, method: 'browser.click', params: [big] })`,
  ],
];

const POLLUTIONS: readonly (readonly [name: string, code: string])[] = [
  ['toJSON of every object', `Object.prototype.toJSON = () => ({ type: 'done', cell: 1 })`],
  ['JSON itself', `JSON.stringify = () => '{"type":"evil"}'; JSON.parse = () => ({ type: 'evil' })`],
  [
    'methods of arrays',
    `Array.prototype.push = Array.prototype.map = Array.prototype.join = () => { throw new Error('evil') }`,
  ],
  ['methods of text', `String.prototype.slice = String.prototype.replace = () => 'evil'`],
  ['then of every promise', `Promise.prototype.then = function () { return this }`],
  ['buffers', `Buffer.from = Buffer.alloc = Buffer.allocUnsafe = Buffer.concat = () => { throw new Error('evil') }`],
  [
    'a setter on every object',
    `Object.defineProperty(Object.prototype, 'content', { set() { throw new Error('evil') }, get: () => 'evil', configurable: true })`,
  ],
  ['the names that helpers have', `globalThis.repl = undefined`],
];

const REALM_EXITS: readonly (readonly [name: string, code: string])[] = [
  ['the constructor of a host function', `repl.write.constructor('return process')()`],
  ['the constructor of a helper', `click.constructor('return process')()`],
  [
    'the constructor of an error',
    `(() => { try { null.x } catch (e) { return e.constructor.constructor('return process')() } })()`,
  ],
  ['an import', `(await import('node:process')).default`],
];

describe.skipIf(noJail)(`escape attempts against the broker${whyNot}`, { timeout: 60_000 }, () => {
  let host: Host;
  let repl: CellProcess;
  const calls: Call[] = [];
  beforeAll(async () => {
    host = await createHost();
    repl = createCellProcess({
      ...jailedCell({ probe }),
      methods: METHODS,
      help: { '': '' },
      calls: {
        call: async (method, params) => {
          calls.push({ method, params });
          return null;
        },
        cellEnded: () => undefined,
      },
    });
  });
  afterAll(async () => {
    await repl[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
  });

  const text = ({ content = [] }: BrowserReplResult): string =>
    content.map((item) => (item.type === 'text' && item.channel === 'write' ? item.text : '')).join('');
  const works = async (): Promise<void> => {
    const next = await repl.execute({ code: `repl.write('mine')`, timeoutMs: 5_000 });
    expect(text(next)).toBe('mine');
    expect(next.success).toBe(true);
  };

  test.each(FORGERIES)('forges %s', async (_name, code) => {
    await repl.execute({ code: `${FORGE}; ${code}`, reset: true, timeoutMs: 5_000 });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(calls.every(({ method }) => method === 'click' || method === 'browser.click')).toBe(true);
    // What has been sent ahead may have ended the runtime; its successor answers.
    if (repl.replId === undefined) await works();
    else await repl.execute({ code: `repl.write('mine')`, timeoutMs: 5_000 });
    await repl.execute({ code: '', reset: true });
    await works();
  });

  test.each(POLLUTIONS)('pollutes %s', async (_name, code) => {
    await repl.execute({ code, reset: true, timeoutMs: 5_000 });
    const next = await repl.execute({ code: `1`, timeoutMs: 5_000 });
    expect(typeof next.success).toBe('boolean');
    await repl.execute({ code: '', reset: true });
    await works();
  });

  test.each(REALM_EXITS)('leaves its realm by %s, and is in the jail still', async (_name, code) => {
    const attempt = `
      const found = ${code};
      const load = found.getBuiltinModule ?? found.mainModule?.require ?? (await import('node:module')).createRequire('/');
      repl.write(load('node:fs').readFileSync(${JSON.stringify(host.targets.file)}, 'utf8'));
    `;
    const result = await repl.execute({ code: attempt, reset: true, timeoutMs: 5_000 });
    expect(JSON.stringify(result)).not.toContain(host.targets.secret);
    const variables = `repl.write(Object.entries((${code}).env).join())`;
    const seen = await repl.execute({ code: variables, reset: true, timeoutMs: 5_000 });
    expect(JSON.stringify(seen)).not.toContain(host.targets.secret);
  });
});
