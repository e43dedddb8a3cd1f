// Puts into the realm what cells find there: console, repl, the host's methods, and what Node offers. The bare names
// of helpers may be taken by cells; `browser`, `repl` and `webmcp` are for good.

import { inspect } from 'node:util';
import { createCellConsole } from './capture-console.ts';
import { createCustomTools } from './custom-tools.ts';
import type { HostLink } from './host-link.ts';
import { readImage } from './image-input.ts';
import { qualifiedName, type HelpTexts, type StartMessage } from './messages.ts';
import type { Output } from './output.ts';
import type { Realm } from './realm.ts';
import { createWaitForEvent } from './wait-for-event.ts';

/** Names that no cell may declare. */
export const RESERVED_NAMES = ['browser', 'repl', 'webmcp'] as const;

export type GlobalsOptions = {
  readonly realm: Realm;
  readonly output: Output;
  readonly link: HostLink;
  readonly start: StartMessage;
};

/** How `repl.write` shows what is no string. */
const WRITE_STYLE = { depth: 4, maxArrayLength: 100, maxStringLength: 8192, breakLength: 120, compact: true } as const;

export function installGlobals({ realm, output, link, start }: GlobalsOptions): void {
  const set = (name: string, value: unknown, fixed = false): void => {
    Object.defineProperty(realm.global, name, { value, writable: !fixed, configurable: !fixed, enumerable: fixed });
  };
  set('console', createCellConsole(realm, output));
  set('repl', createRepl({ realm, output, link, start }), true);

  const browser = realm.object();
  const webmcp = realm.object();
  const customTools = createCustomTools(realm, link);
  for (const description of start.methods) {
    const { name, namespace } = description;
    if (namespace === 'repl') continue;
    const qualified = qualifiedName(description);
    const method =
      qualified === 'waitForEvent'
        ? createWaitForEvent(realm, link)
        : (customTools.get(qualified) ?? realm.wrapAsync(name, (args) => link.call(qualified, args)));
    if (namespace === 'webmcp') webmcp[name] = method;
    else {
      browser[name] = method;
      set(name, method);
    }
  }
  browser.webmcp = realm.freeze(webmcp);
  set('browser', realm.freeze(browser), true);
  set('webmcp', webmcp, true);

  const strict = start.profile === 'train';
  for (const [name, value] of Object.entries(NODE_GLOBALS)) set(name, value);
  set('process', strict ? processStub(realm) : process);
  set('fetch', strict ? fetchStub(realm) : fetch);
}

const NODE_GLOBALS = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  queueMicrotask,
  Buffer,
  URL,
  URLSearchParams,
  TextEncoder,
  TextDecoder,
  AbortController,
  AbortSignal,
  structuredClone,
  atob,
  btoa,
  crypto,
};

function createRepl({ realm, output, start }: GlobalsOptions): Record<string, unknown> {
  const write = (value: unknown): void =>
    output.text('write', typeof value === 'string' ? value : inspect(value, WRITE_STYLE));
  const repl = realm.object();
  repl.id = start.replId;
  repl.write = realm.wrap('write', (args) => write(args[0]));
  repl.help = realm.wrap('help', (args) => {
    const text = helpText(realm, start.help, args[0]);
    write(text);
    return text;
  });
  repl.emitImage = realm.wrapAsync('emitImage', async (args) => {
    try {
      const { mimeType, bytes } = await readImage(args[0]);
      output.image(mimeType, bytes);
    } catch (error) {
      throw asRealmError(realm, error);
    }
  });
  return realm.freeze(repl);
}

function helpText(realm: Realm, texts: HelpTexts, name: unknown): string {
  const key = name === undefined ? '' : name;
  if (typeof key === 'string' && Object.hasOwn(texts, key)) return texts[key];
  throw new realm.Error(`repl.help: unknown method: ${inspect(name)}; repl.help() lists all`);
}

/** An error of Node or of this program, as cells know errors. */
function asRealmError(realm: Realm, error: unknown): Error {
  const { name, message } = error as Error;
  return new (realm.errors.get(name) ?? realm.Error)(message);
}

/** What code commonly reads of `process`, and nothing that acts. */
function processStub(realm: Realm): Record<string, unknown> {
  const stub = realm.object();
  const { platform, arch, version } = process;
  const versions = realm.object();
  versions.node = process.versions.node;
  Object.assign(stub, { platform, arch, version, versions: realm.freeze(versions), env: realm.freeze(realm.object()) });
  return realm.freeze(stub);
}

function fetchStub(realm: Realm): unknown {
  return realm.wrapAsync('fetch', async () => {
    throw new realm.Error('fetch is off in the train profile; go to the page with the browser instead');
  });
}
