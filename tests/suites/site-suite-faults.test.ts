// Faults of our own on our sites are no failure of who plays: the episode is invalid then.

import { expect, test } from 'vitest';
import type { EpisodeEnd } from '../../src/envs/index.ts';
import { openSiteSuite, siteTasks, type SiteSuiteDefinition } from '../../src/envs/sites/kit/suite.ts';
import { template } from '../../src/envs/sites/kit/template.ts';
import { createSiteClient } from './site-client.ts';

const { signal } = new AbortController();
const end = { stop: 'answered', answer: 'x', actions: [], pictures: [] } as unknown as EpisodeEnd;

const broken: SiteSuiteDefinition = {
  name: 'broken',
  version: '1',
  each: 1,
  figures: { oracle: null, noop: null, blind: null },
  templates: [
    template(
      {
        host: 'www.broken-shop.test',
        respond: () => {
          throw new Error('a page of ours failed');
        },
      },
      'look',
      'train',
      () => ({
        state: {},
        start: '/',
        instruction: 'Look.',
        params: {},
        answer: { kind: 'text', value: 'x' },
        oracle: '',
      }),
    ),
  ],
};

test('a site that failed has no verdict, not even for a right answer', async () => {
  await using suite = await openSiteSuite(broken);
  await using instance = await suite.begin('look-1', { signal });
  expect((await createSiteClient(suite.egress[0].toPort!).get(instance.startUrl)).status).toBe(500);
  await expect(instance.verify(end, { signal })).rejects.toMatchObject({
    boundary: 'env',
    code: 'site-failed',
    message: 'The site of look-1 failed while it was used: a page of ours failed',
  });
});

test('a template whose words never change cannot have two tasks', () => {
  expect(() => siteTasks({ ...broken, each: 2 })).toThrow(/look of broken has no 2 tasks with different words/);
});
