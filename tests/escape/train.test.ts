// The escape attempts of a cell once more, through the runtime and the profile `train`: what stands between a model in
// training and Node, before the jail does. Code that gets hold of Node by any of the known ways goes on from there.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCellProcess, jailedCell, type CellProcess } from '../../src/repl/index.ts';
import { createScratchFolder, type ScratchFolder } from '../../src/sandbox/index.ts';
import { noJail, probe, whyNot } from '../sandbox/jail.ts';
import { CELL_ATTEMPTS, PRELUDE } from './cell-attempts.ts';
import { createHost, type Host } from './targets.ts';

/** Ways by which code in a `vm` context has got out of it; each gives a `process`, a `require` or nothing. */
const WAYS_OUT: readonly string[] = [
  `process`,
  `Buffer.constructor('return process')()`,
  `setTimeout.constructor('return process')()`,
  `URL.constructor('return process')()`,
  `crypto.constructor.constructor('return process')()`,
  `structuredClone.constructor('return process')()`,
  `console.log.constructor('return process')()`,
  `repl.write.constructor('return process')()`,
  `click.constructor('return process')()`,
  `(await import('node:util')).inspect.constructor('return process')()`,
  `(await import('node:util')).default.constructor.constructor('return process')()`,
  `(() => { try { null.f(); } catch (e) { return e.constructor.constructor('return process')(); } })()`,
  `await click('#none').catch((e) => e.constructor.constructor('return process')())`,
  `await fetch('http://a').catch((e) => e.constructor.constructor('return process')())`,
  `(() => { let p; Error.prepareStackTrace = (_, frames) => { p = frames.map((f) => f.getThis() ?? f.getFunction()).find((x) => x?.process)?.process; }; new Error().stack; return p; })()`,
  `new Proxy({}, { get: (_, __, r) => r }).constructor.constructor('return process')()`,
  `(async function () {}).constructor('return process')()`,
  `(function* () {}).constructor('return process')().next().value`,
  `setTimeout(() => {}, 0).constructor.constructor('return process')()`,
  `new URLSearchParams('a=1').entries().constructor.constructor('return process')()`,
  `(0, eval)('process')`,
  `(await import('node:fs'))`,
  `(await import('fs/promises'))`,
  `(await import('node:child_process'))`,
  `(await import('node:module')).createRequire('/')`,
  `(await import('data:text/javascript,export default process')).default`,
  `(await import('/proc/self/cwd/x.mjs'))`,
  `globalThis.constructor.constructor('return process')()`,
  `Object.getPrototypeOf(globalThis).constructor.constructor('return process')()`,
];

const isNode = `(x) => x != null && (typeof x.binding === 'function' || typeof x.getBuiltinModule === 'function' || typeof x.kill === 'function' || typeof x.readFileSync === 'function' || typeof x.readFile === 'function' || typeof x.execFileSync === 'function' || typeof x.resolve === 'function' && typeof x.main !== 'undefined')`;

describe.skipIf(noJail)(`the profile train${whyNot}`, () => {
  let scratch: ScratchFolder;
  let repl: CellProcess;
  let host: Host;
  beforeAll(async () => {
    host = await createHost();
    scratch = createScratchFolder();
    repl = createCellProcess({
      profile: 'train',
      calls: { call: () => Promise.reject(new Error('no')), cellEnded: () => undefined },
      methods: [{ name: 'click', namespace: 'browser' }],
      help: {},
      ...jailedCell({ probe, scratch }),
    });
  });
  afterAll(async () => {
    await repl?.[Symbol.asyncDispose]();
    scratch?.[Symbol.dispose]();
    await host?.[Symbol.asyncDispose]();
  });

  const run = async (code: string): Promise<string> => {
    const { content = [], error } = await repl.execute({ code, timeoutMs: 20_000 });
    return error ?? content.map((item) => (item.type === 'text' ? item.text : '')).join('');
  };

  test.each(WAYS_OUT)('gives no Node by %s', async (way) => {
    expect(await run(`{ const got = ${way}; repl.write((${isNode})(got) ? 'escaped' : 'nothing'); }`)).not.toBe(
      'escaped',
    );
  });

  test.each(CELL_ATTEMPTS)('$name', async ({ code }) => {
    const prelude = PRELUDE.replace(/require\('([^']+)'\)/g, `await import('$1')`);
    const got = await run(`{
      const t = ${JSON.stringify(host.targets)};
      ${prelude}
      const got = await (async () => ${code})();
      repl.write(got === true || String(got).includes(t.secret) ? 'escaped' : 'nothing');
    }`);
    expect(got).not.toBe('escaped');
    expect(got).not.toContain(host.targets.secret);
  });

  test('is what keeps Node away: the profile kernel gives it', async () => {
    await using kernel = createCellProcess({
      calls: { call: () => Promise.reject(new Error('no')), cellEnded: () => undefined },
      methods: [],
      help: {},
      ...jailedCell({ probe, scratch }),
    });
    const code = `repl.write([process, await import('node:fs')].filter(${isNode}).length)`;
    expect((await kernel.execute({ code })).content).toMatchObject([{ text: '2' }]);
  });

  test('leaves the host as it was', () => expect(host.damage()).toEqual([]));
});
