// One file of episodes: a header line with format, version and count, then one trajectory a line. Written whole;
// a file that is cut short, damaged or made by a newer version is refused with file and line.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { JsonObject, Trajectory } from '../core/index.ts';
import { writeFileAtomic } from '../util/index.ts';
import { parseLine } from './json-lines.ts';
import { withStoreErrors } from './store-error.ts';
import { trajectorySchema } from './trajectory-schema.ts';
import { corrupt, parseWith, readVersioned, stamp, type VersionedFormat } from './versioned.ts';

const headerFormat: VersionedFormat<{ readonly count: number }> = {
  name: 'tabwright-rollouts',
  upgraders: [],
  schema: z.strictObject({ count: z.int().nonnegative() }),
};

export async function writeRolloutsFile(path: string, trajectories: readonly Trajectory[]): Promise<void> {
  const lines: (JsonObject | Trajectory)[] = [
    stamp(headerFormat, { count: trajectories.length }),
    ...trajectories.map((trajectory, i) => parseWith(trajectorySchema, trajectory, `trajectory ${i} for ${path}`)),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await withStoreErrors({ doing: 'write', path }, () => writeFileAtomic(path, text));
}

export async function readRolloutsFile(path: string): Promise<Trajectory[]> {
  const text = await withStoreErrors({ doing: 'read', path }, () => readFile(path, 'utf8'));
  const [first = '', ...rest] = text.split('\n');
  const { count } = readVersioned(headerFormat, parseLine(first, `${path}:1`), `${path}:1`);
  const tail = rest.pop();
  const trajectories = rest.map((line, i) =>
    parseWith(trajectorySchema, parseLine(line, `${path}:${i + 2}`), `${path}:${i + 2}`),
  );
  if (tail !== '') throw corrupt(`${path}:${rest.length + 2}`, 'the file ends in the middle of a line');
  if (trajectories.length !== count) {
    throw corrupt(
      `${path}:${rest.length + 1}`,
      `the header promises ${count} trajectories and ${trajectories.length} are there`,
    );
  }
  return trajectories;
}
