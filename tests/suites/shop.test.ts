// The suite `shop`: see site-suite-checks.ts for what is held.

import { expect, test } from 'vitest';
import { SHOP } from '../../src/envs/sites/shop/suite.ts';
import { checkSiteSuite } from './site-suite-checks.ts';

checkSiteSuite({
  definition: SHOP,
  change: { id: 'address-default-1', path: '/addresses/a3/default', form: {}, page: '/addresses' },
  twice: 'buy-one-1',
});

test('it has at least 30 tasks', () => {
  expect(SHOP.templates.length * SHOP.each).toBeGreaterThanOrEqual(30);
});
