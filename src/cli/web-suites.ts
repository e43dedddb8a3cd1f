// The suites of tasks on websites, by name.

import type { WebSuite } from '../envs/index.ts';

export type OpenWebSuite = (options: { readonly signal: AbortSignal }) => Promise<WebSuite>;

export const WEB_SUITES: ReadonlyMap<string, OpenWebSuite> = new Map();
