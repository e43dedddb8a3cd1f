// The suite `forms`: see site-suite-checks.ts for what is held.

import { expect, test } from 'vitest';
import { FORMS } from '../../src/envs/sites/forms/suite.ts';
import { checkSiteSuite } from './site-suite-checks.ts';

checkSiteSuite({
  definition: FORMS,
  change: {
    id: 'form-record-1',
    path: '/record',
    form: {
      name: 'A B',
      street: '1 Hill',
      town: 'X',
      postcode: 'AB1 2CD',
      phone: '',
      email: 'a@b.example',
      letters: 'By post',
    },
    page: '/record',
  },
  twice: 'form-contact-1',
});

test('it has at least 30 tasks', () => {
  expect(FORMS.templates.length * FORMS.each).toBeGreaterThanOrEqual(30);
});
