// The words that judges are given: text files in assets/judges, which go with the package. A hash of what a judge uses is
// part of its name, so verdicts under other words cannot be taken for its own.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { JsonObject } from '../core/index.ts';

const FOLDER = new URL('../../assets/judges/', import.meta.url);

export type PromptName =
  | 'rules'
  | 'criteria'
  | 'key-points'
  | 'score-picture'
  | 'webjudge-verdict'
  | 'outcome-verdict'
  | 'rubric-fact'
  | 'rubric-support'
  | 'text-equivalent'
  | 'text-unachievable'
  | 'text-holds';

export function readPrompt(name: PromptName): string {
  return readFileSync(new URL(`${name}.txt`, FOLDER), 'utf8').trim();
}

/** One question to a model: what it is asked, and what its reply has to be. */
export type Question<T> = {
  readonly name: string;
  readonly prompt: string;
  readonly reply: z.ZodType<T>;
  /** Of `reply`, for endpoints that hold a model to it and for the prompt. */
  readonly schema: JsonObject;
};

export function question<T>(name: PromptName, reply: z.ZodType<T>): Question<T> {
  const { $schema: _, ...schema } = z.toJSONSchema(reply) as JsonObject;
  return { name: name.replaceAll('-', '_'), prompt: readPrompt(name), reply, schema };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function hashOf(parts: readonly (string | JsonObject)[]): string {
  return sha256(JSON.stringify(parts));
}
