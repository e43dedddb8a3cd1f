// The world that cells live in: one `vm` context for the life of the process, with its own `Object`, `Error` and so
// on, so that a cell that changes a prototype changes nothing that this program uses. It is a container for state and
// no boundary: the boundary is the jail around the process.

import { constants, createContext, runInContext, type Context } from 'node:vm';
import { REALM_FILE } from './own-frames.ts';

export interface Realm {
  readonly context: Context;
  /** The global object of cells. */
  readonly global: Record<string, unknown>;
  /** The realm's own intrinsics, taken before any cell ran. */
  readonly Error: ErrorConstructor;
  readonly errors: ReadonlyMap<string, ErrorConstructor>;
  parseJson(text: string): unknown;
  freeze<T>(value: T): T;
  /** An empty object of the realm. */
  object(): Record<string, unknown>;
  /** A function of the realm with this name, which hands its arguments on. */
  wrap(name: string, implementation: (args: unknown[]) => unknown): unknown;
  /** The same for asynchronous functions: what they return is a promise of the realm. */
  wrapAsync(name: string, implementation: (args: unknown[]) => Promise<unknown>): unknown;
}

type Wrap = (name: string, implementation: (args: unknown[]) => unknown) => unknown;

const WRAP = '((name, implementation) => ({ [name](...args) { return implementation(args); } })[name])';
const WRAP_ASYNC =
  '((name, implementation) => ({ async [name](...args) { return await implementation(args); } })[name])';

/** Node awaits a cell's promise by its `then`: a cell without one would seem to succeed before it has run. */
const LOCK_THEN = 'Object.defineProperty(Promise.prototype, "then", { writable: false, configurable: false })';

export function createRealm(): Realm {
  const context = createContext(constants.DONT_CONTEXTIFY);
  const take = (expression: string): unknown => runInContext(expression, context, { filename: REALM_FILE });
  take(LOCK_THEN);
  const names = ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'AggregateError'];
  const errors = new Map(names.map((name) => [name, take(name) as ErrorConstructor]));
  return {
    context,
    global: take('globalThis') as Record<string, unknown>,
    Error: take('Error') as ErrorConstructor,
    errors,
    parseJson: take('JSON.parse') as (text: string) => unknown,
    freeze: take('Object.freeze') as <T>(value: T) => T,
    object: take('(() => ({}))') as () => Record<string, unknown>,
    wrap: take(WRAP) as Wrap,
    wrapAsync: take(WRAP_ASYNC) as Wrap,
  };
}
