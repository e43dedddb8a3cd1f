// The suite `mail`: see site-suite-checks.ts for what is held.

import { expect, test } from 'vitest';
import { MAIL } from '../../src/envs/sites/mail/suite.ts';
import { checkSiteSuite } from './site-suite-checks.ts';

checkSiteSuite({
  definition: MAIL,
  change: { id: 'mail-bin-1', path: '/mail/m1/archive', form: {}, page: '/folder/Inbox' },
  twice: 'mail-reply-1',
});

test('it has at least 30 tasks', () => {
  expect(MAIL.templates.length * MAIL.each).toBeGreaterThanOrEqual(30);
});
