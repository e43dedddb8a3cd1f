// The suite `mail`: one mailbox, what is written in it and what is done with what came.

import type { SuiteDescription } from '../../suite-description.ts';
import type { WebSuite } from '../../web-suite.ts';
import type { SiteHostOptions } from '../host.ts';
import { describeSiteSuite, openSiteSuite, type SiteSuiteDefinition } from '../kit/suite.ts';
import { SORTING_TASKS } from './sorting-tasks.ts';
import { WRITING_TASKS } from './writing-tasks.ts';

export const MAIL: SiteSuiteDefinition = {
  name: 'mail',
  version: '1.2.0',
  templates: [...WRITING_TASKS, ...SORTING_TASKS],
  each: 3,
  eachOf: { 'mail-newest-word': 4 },
  figures: { oracle: 1, noop: 0, blind: 0.065 },
};

export function describeMail(): SuiteDescription {
  return describeSiteSuite(MAIL);
}

export function openMail(options: SiteHostOptions = {}): Promise<WebSuite> {
  return openSiteSuite(MAIL, options);
}
