// The suites of tasks on websites, by name.

import { openAgentAuth, openForms, openMail, openShop, openWebNav, type WebSuite } from '../envs/index.ts';

export type OpenWebSuite = (options: { readonly signal: AbortSignal }) => Promise<WebSuite>;

export const WEB_SUITES: ReadonlyMap<string, OpenWebSuite> = new Map<string, OpenWebSuite>([
  ['agent_auth', openAgentAuth],
  ['forms', openForms],
  ['mail', openMail],
  ['shop', openShop],
  ['web_nav', openWebNav],
]);
