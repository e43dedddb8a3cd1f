// The suite `shop`: one outdoor shop, from the catalogue over the checkout to returns.

import type { SuiteDescription } from '../../suite-description.ts';
import type { WebSuite } from '../../web-suite.ts';
import type { SiteHostOptions } from '../host.ts';
import { describeSiteSuite, openSiteSuite, type SiteSuiteDefinition } from '../kit/suite.ts';
import { BUYING_TASKS } from './buying-tasks.ts';
import { CUSTOMER_TASKS } from './customer-tasks.ts';

export const SHOP: SiteSuiteDefinition = {
  name: 'shop',
  version: '1.2.0',
  templates: [...BUYING_TASKS, ...CUSTOMER_TASKS],
  each: 3,
  eachOf: { 'buy-despite-review': 4 },
  figures: { oracle: 1, noop: 0, blind: 0 },
};

export function describeShop(): SuiteDescription {
  return describeSiteSuite(SHOP);
}

export function openShop(options: SiteHostOptions = {}): Promise<WebSuite> {
  return openSiteSuite(SHOP, options);
}
