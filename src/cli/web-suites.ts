// The suites of tasks on websites, by name.

import { openForms, openMail, openShop, openWebNav, type WebSuite } from '../envs/index.ts';

export type OpenWebSuite = (options: { readonly signal: AbortSignal }) => Promise<WebSuite>;

export const WEB_SUITES: ReadonlyMap<string, OpenWebSuite> = new Map<string, OpenWebSuite>([
  ['forms', openForms],
  ['mail', openMail],
  ['shop', openShop],
  ['web_nav', openWebNav],
]);
