// Episodes of a stage that is still being played, one a line as they end, so that a stage that was cut short is gone on
// with where it stopped. When the stage is complete its file of episodes takes this one's place.

import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { AnyTrajectory } from '../core/index.ts';
import { appendJsonLine, readJsonLines, repairTail } from './json-lines.ts';
import { withStoreErrors } from './store-error.ts';
import { chatTrajectorySchema, trajectorySchema } from './trajectory-schema.ts';
import { parseWith } from './versioned.ts';

const schema: z.ZodType<AnyTrajectory> = z.union([trajectorySchema, chatTrajectorySchema]);

/** Synchronous, so that lines stand in the order in which episodes ended. */
export function appendEpisode(path: string, trajectory: AnyTrajectory): void {
  appendJsonLine(path, parseWith(schema, trajectory, `an episode for ${path}`));
}

/** In the order in which they ended; a torn tail is cut off. */
export async function readEpisodeLog(path: string): Promise<AnyTrajectory[]> {
  await repairTail(path);
  return readJsonLines(path, schema);
}

export function removeEpisodeLog(path: string): Promise<void> {
  return withStoreErrors({ doing: 'remove', path }, () => rm(path, { force: true }));
}
