// Schemas and pieces that the single-stage commands share.

import { z } from 'zod';
import type { CommandContext } from './run-command.ts';
import type { PolicyModelOptions } from './policy-model.ts';
import { chatSettings } from './chat-policy.ts';
import { createClickCheckboxesEnv, type ClickCheckboxesEnv } from '../envs/index.ts';

/** Settings of every command that runs episodes. */
export const episodeSettings = {
  seed: z.int().nonnegative().default(1).describe('makes the command reproducible'),
  env: z.enum(['click-checkboxes']).default('click-checkboxes').describe('the environment'),
  temperature: z.number().nonnegative().default(1).describe('of every draw, 0 is greedy'),
  pages: z.int().positive().max(64).default(16).describe('pages open at once'),
} as const;

/** Settings of every command that opens a model. */
export const modelSettings = {
  ...chatSettings,
  tokenizer: z
    .string()
    .min(1)
    .optional()
    .describe('where the tokenizer of a tinker: model is, a folder or owner/name (default: found by its name)'),
} as const;

type ModelSettings = Readonly<z.infer<z.ZodObject<typeof modelSettings>>>;

/** Of every call to a trainer: a step of a large model on a busy server takes minutes. */
export const trainerDeadline = {
  trainerDeadlineSeconds: z
    .number()
    .positive()
    .max(86_400)
    .optional()
    .describe('longest wait for one call to the trainer (default: 1800)'),
} as const;

export function openEnv(pages: number, signal: AbortSignal): Promise<ClickCheckboxesEnv> {
  return createClickCheckboxesEnv({ pages, signal });
}

/** Of episodes whose samples come from a server: it may be busy with others. */
export const REMOTE_DEADLINES = {
  operationMs: 300_000,
  turnMs: 600_000,
  episodeMs: 1_800_000,
  runMs: 86_400_000,
} as const;

/** How a command opens its model. */
export function policyModelOptions({
  config,
  given,
  listener,
  signal,
  replyTokens,
}: Pick<CommandContext<ModelSettings>, 'config' | 'given' | 'listener' | 'signal'> & {
  /** What the environment allows a reply; a flag that is given counts more. */
  readonly replyTokens?: number | undefined;
}): PolicyModelOptions {
  const onNotice = (message: string): void => listener({ kind: 'note', level: 'warning', message });
  const { chatFormat, maxActionTokens, maxPageTokens, contextLength, tokenizer } = config;
  const settings = { chatFormat, maxActionTokens, maxPageTokens, contextLength, replyTokens };
  const resumes = given.resume ? given.out : undefined;
  return { baseUrl: given.baseUrl, resumes, settings, tokenizer, signal, onNotice };
}
