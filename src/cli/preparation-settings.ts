// Flags for what comes before tasks of a file, as settings: the sites are the user's, and so is how they are brought back and
// who is signed in there. What the flags do is in task-file-preparation.ts.

import { z } from 'zod';

export const preparationSettings = {
  storageState: z
    .string()
    .min(1)
    .optional()
    .describe(
      "of tasks:<file>: signed-in states in Playwright's format, shopping=shop.json,gitlab=git.json, or one file for all",
    ),
  before: z
    .string()
    .min(1)
    .optional()
    .describe('of tasks:<file>: a shell command that is run once, before the first task'),
  beforeEach: z
    .string()
    .min(1)
    .optional()
    .describe('of tasks:<file>: a shell command that is run before every task, which needs --sessions 1'),
  beforeSeconds: z
    .int()
    .positive()
    .max(86_400)
    .optional()
    .describe('of tasks:<file>: seconds that such a command may take (default: 600)'),
};

export type PreparationSettings = Readonly<z.output<z.ZodObject<typeof preparationSettings>>>;
