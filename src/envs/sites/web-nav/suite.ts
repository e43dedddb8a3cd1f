// The suite `web_nav`: what people do on websites of many kinds, one small site a kind.

import type { WebSuite } from '../../web-suite.ts';
import type { SuiteDescription } from '../../suite-description.ts';
import type { SiteHostOptions } from '../host.ts';
import { describeSiteSuite, openSiteSuite, type SiteSuiteDefinition } from '../kit/suite.ts';
import { ACCOUNT_TASKS } from './account-tasks.ts';
import { BOOKS_TASKS } from './books-tasks.ts';
import { COUNTY_TASKS } from './county-tasks.ts';
import { DESK_TASKS } from './desk-tasks.ts';
import { FILES_TASKS } from './files-tasks.ts';

export const WEB_NAV: SiteSuiteDefinition = {
  name: 'web_nav',
  version: '1.1.0',
  templates: [...BOOKS_TASKS, ...COUNTY_TASKS, ...ACCOUNT_TASKS, ...FILES_TASKS, ...DESK_TASKS],
  each: 3,
  figures: { oracle: 1, noop: 0, blind: 0.057 },
};

export function describeWebNav(): SuiteDescription {
  return describeSiteSuite(WEB_NAV);
}

export function openWebNav(options: SiteHostOptions = {}): Promise<WebSuite> {
  return openSiteSuite(WEB_NAV, options);
}
