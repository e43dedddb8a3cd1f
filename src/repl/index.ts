// The Browser REPL: cells of JavaScript in a process that drives a browser, both in a jail.

export type { BrowserReplResult, ContentItem } from './browser-repl-result.ts';
export type { HostCallContext, HostCalls } from './cell-calls.ts';
export type { CellChildOptions, CellCommand } from './cell-child.ts';
export { createCellProcess, type CellProcess, type CellRequest } from './cell-process.ts';
export { BROWSER_LIMITS, launchJailedBrowser, type JailedBrowserOptions } from './jailed-browser.ts';
export { jailedCell, type JailedCell, type JailedCellOptions } from './jailed-cell.ts';
