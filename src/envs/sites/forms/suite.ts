// The suite `forms`: a town office and its forms, from three fields to three steps.

import type { SuiteDescription } from '../../suite-description.ts';
import type { WebSuite } from '../../web-suite.ts';
import type { SiteHostOptions } from '../host.ts';
import { describeSiteSuite, openSiteSuite, type SiteSuiteDefinition } from '../kit/suite.ts';
import { PLAIN_TASKS } from './plain-tasks.ts';
import { SPECIAL_TASKS } from './special-tasks.ts';

export const FORMS: SiteSuiteDefinition = {
  name: 'forms',
  version: '1.2.0',
  templates: [...PLAIN_TASKS, ...SPECIAL_TASKS],
  each: 3,
  eachOf: { 'form-name-taken': 4 },
  figures: { oracle: 1, noop: 0, blind: 0 },
};

export function describeForms(): SuiteDescription {
  return describeSiteSuite(FORMS);
}

export function openForms(options: SiteHostOptions = {}): Promise<WebSuite> {
  return openSiteSuite(FORMS, options);
}
