// What the servers need of a browser with its REPL, and nothing of how one is made or jailed.

import type { BrowserReplResult, CellRequest } from '../repl/index.ts';

export type SessionWait = { readonly signal: AbortSignal };

export interface ReplSession extends AsyncDisposable {
  /** Its browser is gone, and with it everything else: there is nothing to do but dispose it. */
  readonly closed: boolean;
  /** One cell at a time; rejects for a bad request and for a runtime that does not start, never for a failing cell. */
  execute(request: CellRequest): Promise<BrowserReplResult>;
  /** Opens an address in the tab that cells act on, without waiting for it to load. */
  navigate(url: string, wait: SessionWait): Promise<void>;
  /** PNG of what that tab shows; undefined when it does not answer. */
  screenshot(wait: SessionWait): Promise<Uint8Array | undefined>;
}

export type Viewport = { readonly width: number; readonly height: number };

export type OpenSessionOptions = {
  /** CSS pixels; default: the browser's own. */
  readonly viewport?: Viewport;
  readonly signal: AbortSignal;
};

export type OpenSession = (options: OpenSessionOptions) => Promise<ReplSession>;
