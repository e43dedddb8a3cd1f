// The suites of tasks on websites, by name.

import {
  describeAgentAuth,
  describeForms,
  describeMail,
  describeShop,
  describeWebNav,
  openAgentAuth,
  openForms,
  openMail,
  openShop,
  openWebNav,
  type SuiteDescription,
  type WebSuite,
} from '../envs/index.ts';

export type OpenWebSuite = (options?: { readonly port?: number | undefined }) => Promise<WebSuite>;

export type KnownWebSuite = {
  /** Without serving anything. */
  readonly describe: () => SuiteDescription;
  readonly open: OpenWebSuite;
};

export const WEB_SUITES: ReadonlyMap<string, KnownWebSuite> = new Map<string, KnownWebSuite>([
  ['agent_auth', { describe: describeAgentAuth, open: openAgentAuth }],
  ['forms', { describe: describeForms, open: openForms }],
  ['mail', { describe: describeMail, open: openMail }],
  ['shop', { describe: describeShop, open: openShop }],
  ['web_nav', { describe: describeWebNav, open: openWebNav }],
]);
