// Runs the cells of oracles in this process, over the methods that jailed cells have, in one unjailed browser: what hundreds
// of sites can be gone through with in a test. Between two cells one tab is left; sites of our own share no cookie.

import { launchBrowser, locateChromium } from '../../src/browser/index.ts';
import { METHOD_NAMES } from '../../src/repl/index.ts';
import { createHostCalls } from '../../src/repl/host-calls.ts';
import { pinnedNames } from '../../src/repl/session-place.ts';
import { decodeValue, encodeValue } from '../../src/repl/wire-values.ts';
import type { EgressRule } from '../../src/sandbox/index.ts';

export interface CellRunner extends AsyncDisposable {
  /** Opens the address as the host of an episode does, runs the cell, and gives what it wrote. */
  run(startUrl: string, code: string): Promise<string>;
}

const NAMES = METHOD_NAMES.filter((name) => /^\w+$/.test(name));
const CELL_MS = 60_000;

export async function createCellRunner(egress: readonly EgressRule[]): Promise<CellRunner> {
  const location = await locateChromium();
  // One renderer for all sites: starting one for each takes half of the processor time of a site.
  const flags = [...pinnedNames(egress), '--disable-site-isolation-trials', '--renderer-process-limit=1'];
  const browser = await launchBrowser({ location, mode: 'ordinary', flags });
  const { signal } = new AbortController();
  const calls = createHostCalls({
    connect: async () => browser.cdp,
    scratch: { inside: '/nowhere', host: '/nowhere' },
  });
  const call = async (method: string, args: readonly unknown[]): Promise<unknown> =>
    decodeValue(await calls.call(method, args.map(encodeValue), { cell: 1, deadlineMs: CELL_MS, signal }));
  const methods = NAMES.map(
    (name) =>
      (...args: readonly unknown[]) =>
        call(name, args),
  );
  return {
    async run(startUrl, code) {
      let written = '';
      const repl = { write: (value: unknown) => (written += String(value)) };
      await call('gotoUrl', [startUrl]);
      await call('waitForLoad', []);
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a cell is code, and this one is the repository's
      const cell = new Function('repl', ...NAMES, `return (async () => {${code}})();`) as (
        ...given: readonly unknown[]
      ) => Promise<void>;
      await cell(repl, ...methods);
      const [first, ...others] = (await call('listTabs', [])) as readonly { readonly targetId: string }[];
      if (others.length > 0) {
        for (const { targetId } of others) await call('closeTab', [targetId]);
        await call('switchTab', [first.targetId]);
      }
      return written;
    },
    [Symbol.asyncDispose]: () => browser[Symbol.asyncDispose](),
  };
}
