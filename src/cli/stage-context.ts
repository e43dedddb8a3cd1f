// Schemas and pieces that the single-stage commands share.

import { z } from 'zod';
import type { Task } from '../core/index.ts';
import { createClickCheckboxesEnv, createPuzzle, type ClickCheckboxesEnv } from '../envs/index.ts';
import { wantedBoxes } from './click-checkboxes.ts';

/** Settings of every command that runs episodes. */
export const episodeSettings = {
  seed: z.int().nonnegative().default(1).describe('makes the command reproducible'),
  env: z.enum(['click-checkboxes']).default('click-checkboxes').describe('the environment'),
  temperature: z.number().nonnegative().default(1).describe('of every draw, 0 is greedy'),
  pages: z.int().positive().max(64).default(16).describe('pages open at once'),
} as const;

export function openEnv(pages: number, signal: AbortSignal): Promise<ClickCheckboxesEnv> {
  return createClickCheckboxesEnv({ pages, signal });
}

/** What training puzzles and demonstrations are balanced by. */
export function balanceKey({ seed }: Task): string {
  return String(wantedBoxes(createPuzzle(seed)));
}
