// Settings of every command that plays episodes of any environment: which one, how many at once, and for websites what
// browsers there are and what they may do. All but the environment are optional, so that one that would be without effect
// can be refused by whoever opens the environment; their defaults are there.

import { z } from 'zod';
import { webTaskConfigSchema } from '../envs/index.ts';
import { judgeSettings } from './judge-option.ts';
import { localBrowserSettings } from './local-browsers.ts';
import { preparationSettings } from './preparation-settings.ts';

const limits = webTaskConfigSchema.shape;

/** The leaves of `webTaskConfigSchema` without their defaults. */
const limitSettings = Object.fromEntries(
  Object.entries(limits).map(([name, schema]) => [
    name,
    schema
      .unwrap()
      .optional()
      .describe(`of websites: ${schema.description ?? ''} (default: ${JSON.stringify(schema.parse(undefined))})`),
  ]),
) as { [K in keyof typeof limits]: z.ZodOptional<ReturnType<(typeof limits)[K]['unwrap']>> };

/** Of environments whose pages one browser holds. */
export const pageSettings = {
  pages: z.int().positive().max(64).optional().describe('pages open at once (default: 16)'),
};

/** Of websites that a file names, which are somebody's own. */
export const taskFileSettings = ['site', 'storageState', 'before', 'beforeEach', 'beforeSeconds'] as const;

/** Of environments whose episodes have a session of the Browser REPL each. */
export const websiteSettings = {
  sessions: z.int().positive().max(256).optional().describe('of websites: browsers at once (default: 4)'),
  pool: z
    .string()
    .min(1)
    .optional()
    .describe("of websites: Kernel's pool of this id or name (default: jailed browsers of this machine)"),
  tool: z.enum(['browser_repl']).optional().describe('of websites: what the model acts with (default: browser_repl)'),
  allow: localBrowserSettings.allow
    .unwrap()
    .optional()
    .describe("of websites: hosts that the browsers may reach beside the suite's own, host or host:port"),
  profile: localBrowserSettings.profile
    .unwrap()
    .optional()
    .describe('of websites: what cells find, all of Node or what models in training are given (default: train)'),
  sitesPort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe(
      "of our suites: loopback port of their sites, for a pool's browsers that are let there (default: a free one)",
    ),
  site: z
    .string()
    .min(1)
    .optional()
    .describe('of tasks:<file>: addresses for its placeholders, shopping=http://…,gitlab=http://…'),
  ...preparationSettings,
  unsafeLocal: z.boolean().optional().describe('of websites: run without a jail, with all rights of this user'),
  ...limitSettings,
  ...judgeSettings,
};

export const environmentSettings = {
  env: z
    .string()
    .min(1)
    .default('click-checkboxes')
    .describe(
      'click-checkboxes, miniwob, miniwob/<task>, a suite of websites (`tabwright suite list`), tasks:<file>, math:<file> or custom:<module>',
    ),
  ...pageSettings,
  ...websiteSettings,
};

export type EnvironmentSettings = Readonly<z.output<z.ZodObject<typeof environmentSettings>>>;
export type WebsiteSettings = Readonly<z.output<z.ZodObject<typeof websiteSettings>>>;

/** The episode's numbers, defaults filled in. */
export function webLimits(settings: WebsiteSettings): z.output<typeof webTaskConfigSchema> {
  const given = Object.keys(limits).map((name) => [name, settings[name as keyof typeof limits]] as const);
  return webTaskConfigSchema.parse(Object.fromEntries(given.filter(([, value]) => value !== undefined)));
}
