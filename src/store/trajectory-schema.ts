// The shape of a stored episode, checked when it is written (a NaN would silently become null in JSON) and when it
// is read. Types are core's; this file only says the same to zod.

import { z } from 'zod';
import type { ChatRecord, Trajectory } from '../core/index.ts';
import { jsonObject } from './json-schema.ts';

const tokens = z.array(z.int().nonnegative());

const actionSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('call'), tool: z.string(), args: jsonObject }),
  z.strictObject({ kind: z.literal('malformed'), problem: z.string(), text: z.string() }),
  z.strictObject({ kind: z.literal('answer'), text: z.string() }),
]);

const stop = z.enum(['stop', 'length']);

const facts = {
  action: actionSchema,
  page: z.string(),
  nextPage: z.string(),
  notice: z.string().optional(),
  changed: z.boolean(),
  info: jsonObject,
  screenshot: z.string().optional(),
  evidence: z.string().optional(),
} as const;

const turnSchema = z
  .strictObject({
    promptTokens: tokens,
    actionTokens: tokens,
    logprobs: z.array(z.number()),
    samplerVersion: z.int().nonnegative(),
    stop,
    ...facts,
  })
  .refine((turn) => turn.logprobs.length === turn.actionTokens.length, 'needs one logprob for each action token');

/** Said by a model whose tokens nobody here has seen. */
const chatTurnSchema = z.strictObject({
  reply: z.strictObject({
    text: z.string(),
    calls: z.array(z.strictObject({ id: z.string(), name: z.string(), arguments: z.string() })),
  }),
  usage: z.strictObject({ promptTokens: z.int().nonnegative(), completionTokens: z.int().nonnegative() }).optional(),
  cost: z.number().nonnegative().optional(),
  stop,
  ...facts,
});

const outcomeSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('finished'),
    success: z.boolean(),
    reward: z.number(),
    stop: z.enum(['submitted', 'max_actions', 'answered', 'malformed', 'token_budget']),
    clamped: z.literal(true).optional(),
    details: jsonObject,
  }),
  z.strictObject({
    kind: z.literal('invalid'),
    boundary: z.enum(['browser', 'env', 'policy', 'judge', 'backend', 'store', 'config']),
    code: z.string(),
    message: z.string(),
  }),
]);

const taskSchema = z.strictObject({
  id: z.string(),
  env: z.string(),
  instruction: z.string(),
  seed: z.number(),
  startUrl: z.string().optional(),
  params: jsonObject.optional(),
});

export const trajectorySchema: z.ZodType<Trajectory> = z.strictObject({
  task: taskSchema,
  member: z.int().nonnegative(),
  turns: z.array(turnSchema),
  outcome: outcomeSchema,
  seconds: z.number().nonnegative(),
});

export const chatTrajectorySchema: z.ZodType<Trajectory<ChatRecord>> = z.strictObject({
  task: taskSchema,
  member: z.int().nonnegative(),
  turns: z.array(chatTurnSchema),
  outcome: outcomeSchema,
  seconds: z.number().nonnegative(),
});
