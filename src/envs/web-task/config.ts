// Settings of episodes on websites. The defaults are those of tinker-cookbook's agentic preset where it has one (turns,
// corrections, one call at a time); the rest is this project's. Recorded in a run's config.

import { z } from 'zod';

export const webTaskConfigSchema = z.strictObject({
  maxTurns: z.int().min(1).max(200).default(10).describe('replies of the model, the answer included'),
  maxCorrections: z
    .int()
    .nonnegative()
    .max(20)
    .default(2)
    .describe('replies in a row that cannot be read and are answered with what was wrong; one more ends the episode'),
  turnTokens: z.int().min(16).default(4_096).describe('most tokens of one reply, thoughts included'),
  trajectoryTokens: z
    .int()
    .min(1_000)
    .default(65_536)
    .describe('most tokens of a conversation, prompt and reply together; beyond it the episode ends'),
  outputCharacters: z
    .int()
    .min(100)
    .max(256_000)
    .default(4_000)
    .describe("characters of a cell's output that are shown"),
  limitReward: z
    .enum(['clamp', 'keep'])
    .default('clamp')
    .describe('reward of an episode that a limit ended: graded and lowered to at most 0, or as it was graded'),
  cellSeconds: z.int().min(1).max(300).default(30).describe('seconds that a cell may take, unless it asks for less'),
});

export type WebTaskConfig = z.output<typeof webTaskConfigSchema>;
