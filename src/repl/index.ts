// The Browser REPL: cells of JavaScript in a process that drives a browser, both in a jail.

export { isUnfinishedCell } from './cell/cell-syntax.ts';
export type { BrowserReplResult, ContentItem } from './browser-repl-result.ts';
export type { CellChildOptions, CellCommand } from './cell-child.ts';
export { createCellProcess, type CellProcess, type CellRequest } from './cell-process.ts';
export { renderActionLog, type ActionEntry, type ActionLog, type Subject } from './action-log.ts';
export { compareReferences, describeDifference, type ReferenceDifference } from './compare-reference.ts';
export {
  createHostCalls,
  type BrowserCalls,
  type HostCallContext,
  type HostCalls,
  type HostCallsOptions,
} from './host-calls.ts';
export { METHOD_NAMES, referencePage, toolDescription } from './method-registry.ts';
export { createHttpGet, type HttpGet, type HttpGetOptions } from './methods/http-client.ts';
export { BROWSER_LIMITS, launchJailedBrowser, type JailedBrowserOptions } from './jailed-browser.ts';
export { jailedCell, type JailedCell, type JailedCellOptions } from './jailed-cell.ts';
export { openLocalSession, type LocalSessionOptions } from './local-session.ts';
export type { HostTab } from './host-tab.ts';
export type { ReplSession, SessionHealth, SessionWait } from './session.ts';
export type { SessionLease } from './lease.ts';
export {
  createSessionPool,
  type AcquireOptions,
  type EndReason,
  type PoolEvent,
  type SessionPool,
  type SessionPoolOptions,
  type WarmSession,
} from './pool.ts';
export { createCdpProvider, type CdpProviderOptions } from './providers/cdp.ts';
export { createKernelClient, type KernelClientOptions } from './providers/kernel-client.ts';
export { createKernelProvider, type KernelEvent, type KernelProviderOptions } from './providers/kernel.ts';
export { createLocalProvider, type LocalProviderOptions } from './providers/local.ts';
export type { SessionProvider } from './providers/provider.ts';
