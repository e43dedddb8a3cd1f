// The suite `web_nav`: see site-suite-checks.ts for what is held.

import { expect, test } from 'vitest';
import { WEB_NAV } from '../../src/envs/sites/web-nav/suite.ts';
import { checkSiteSuite } from './site-suite-checks.ts';

checkSiteSuite({
  definition: WEB_NAV,
  change: { id: 'book-cheapest-1', path: '/list/b101', form: {}, page: '/list' },
  twice: 'book-cheapest-1',
});

test('it has at least 60 tasks on five sites', () => {
  expect(WEB_NAV.templates.length * WEB_NAV.each).toBeGreaterThanOrEqual(60);
  expect(new Set(WEB_NAV.templates.map(({ app }) => app.host)).size).toBe(5);
});
