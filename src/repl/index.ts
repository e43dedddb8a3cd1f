// The Browser REPL: cells of JavaScript in a process that drives a browser, both in a jail.

export type { BrowserReplResult, ContentItem } from './browser-repl-result.ts';
export { renderActionLog, type ActionEntry, type ActionLog, type Subject } from './action-log.ts';
export { compareReferences, describeDifference, type ReferenceDifference } from './compare-reference.ts';
export {
  createHostCalls,
  type BrowserCalls,
  type HostCallContext,
  type HostCalls,
  type HostCallsOptions,
} from './host-calls.ts';
export { referencePage, toolDescription } from './method-registry.ts';
export { createHttpGet, type HttpGet, type HttpGetOptions } from './methods/http-get.ts';
export type { CellChildOptions, CellCommand } from './cell-child.ts';
export { createCellProcess, type CellProcess, type CellRequest } from './cell-process.ts';
export { BROWSER_LIMITS, launchJailedBrowser, type JailedBrowserOptions } from './jailed-browser.ts';
export { jailedCell, type JailedCell, type JailedCellOptions } from './jailed-cell.ts';
