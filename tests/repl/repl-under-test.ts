// A browser, a scratch folder and the host's side of a REPL, as a cell would have them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser, locateChromium, type BrowserKind } from '../../src/browser/index.ts';
import { createHostCalls, type BrowserCalls, type HostCallsOptions } from '../../src/repl/host-calls.ts';
import { decodeValue, encodeValue } from '../../src/repl/wire-values.ts';

export interface ReplUnderTest extends AsyncDisposable {
  readonly calls: BrowserCalls;
  /** The scratch folder on the host; cells see it as `/tmp`. */
  readonly folder: string;
  /** What was said to the cell's stderr. */
  readonly notes: readonly string[];
  /** Calls a method as a cell does, values encoded both ways. */
  call<T = unknown>(method: string, ...args: readonly unknown[]): Promise<T>;
  /** The same with so much time left, in milliseconds. */
  callWithin<T = unknown>(deadlineMs: number, method: string, ...args: readonly unknown[]): Promise<T>;
  /** Opens an address and waits for it. */
  open(url: string): Promise<void>;
}

export type ReplUnderTestOptions = Partial<Omit<HostCallsOptions, 'connect' | 'scratch'>> & {
  /** Default: the headless shell. */
  readonly prefer?: BrowserKind;
};

export async function startRepl({ prefer, ...options }: ReplUnderTestOptions = {}): Promise<ReplUnderTest> {
  const location = await locateChromium(prefer === undefined ? {} : { prefer });
  const browser = await launchBrowser({ location, mode: 'ordinary' });
  const folder = await mkdtemp(join(tmpdir(), 'tabwright-repl-'));
  const notes: string[] = [];
  const calls = createHostCalls({
    connect: async () => browser.cdp,
    // Nothing is jailed here: the browser sees the folder where the host has it.
    scratch: { inside: folder, host: folder },
    note: (text) => notes.push(text),
    ...options,
  });
  const { signal } = new AbortController();
  const callWithin = async <T>(deadlineMs: number, method: string, ...args: readonly unknown[]): Promise<T> =>
    decodeValue(await calls.call(method, args.map(encodeValue), { cell: 1, deadlineMs, signal })) as T;
  const call = <T>(method: string, ...args: readonly unknown[]): Promise<T> => callWithin<T>(25_000, method, ...args);
  return {
    calls,
    folder,
    notes,
    call,
    callWithin,
    async open(url) {
      await call('gotoUrl', url);
      await call('waitForLoad');
    },
    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
