// One file of episodes: a header line with format, version and count, then one trajectory a line. Written whole;
// a file that is cut short, damaged or made by a newer version is refused with file and line. Episodes of chat models,
// which have no tokens, are marked in the header: what trains does not get to read them.

import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { TabwrightError, type AnyTrajectory, type JsonObject, type Trajectory } from '../core/index.ts';
import { writeFileAtomic } from '../util/index.ts';
import { parseLine } from './json-lines.ts';
import { withStoreErrors } from './store-error.ts';
import { chatTrajectorySchema, trajectorySchema } from './trajectory-schema.ts';
import { corrupt, parseWith, readVersioned, stamp, type VersionedFormat } from './versioned.ts';

type Header = { readonly count: number; readonly policy?: 'chat' };

const headerFormat: VersionedFormat<Header> = {
  name: 'tabwright-rollouts',
  upgraders: [],
  schema: z.strictObject({ count: z.int().nonnegative(), policy: z.literal('chat').optional() }),
};

/** All of one kind: a policy either gives tokens or does not. */
export async function writeRolloutsFile(path: string, trajectories: readonly AnyTrajectory[]): Promise<void> {
  const isChat = trajectories.some(({ turns }) => turns.some((turn) => 'reply' in turn));
  const schema: z.ZodType<AnyTrajectory> = isChat ? chatTrajectorySchema : trajectorySchema;
  const lines: (JsonObject | AnyTrajectory)[] = [
    stamp(headerFormat, { count: trajectories.length, ...(isChat ? { policy: 'chat' as const } : {}) }),
    ...trajectories.map((trajectory, i) => parseWith(schema, trajectory, `trajectory ${i} for ${path}`)),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await withStoreErrors({ doing: 'write', path }, () => writeFileAtomic(path, text));
}

/** Episodes that can be trained on; others are refused. */
export async function readRolloutsFile(path: string): Promise<Trajectory[]> {
  const { header, lines } = await readLines(path);
  if (header.policy === 'chat') {
    throw new TabwrightError(
      'store',
      `${path} holds episodes of a chat model, which have no tokens: they can be looked at, and nothing can be trained on them.`,
      { code: 'no-tokens', details: { path } },
    );
  }
  return lines.map(({ value, at }) => parseWith(trajectorySchema, value, at));
}

/** Episodes of any policy, to look at. */
export async function readAnyRolloutsFile(path: string): Promise<AnyTrajectory[]> {
  const { header, lines } = await readLines(path);
  const schema: z.ZodType<AnyTrajectory> = header.policy === 'chat' ? chatTrajectorySchema : trajectorySchema;
  return lines.map(({ value, at }) => parseWith(schema, value, at));
}

type Line = { readonly value: unknown; readonly at: string };

async function readLines(path: string): Promise<{ readonly header: Header; readonly lines: readonly Line[] }> {
  const text = await withStoreErrors({ doing: 'read', path }, () => readFile(path, 'utf8'));
  const [first = '', ...rest] = text.split('\n');
  const header = readVersioned(headerFormat, parseLine(first, `${path}:1`), `${path}:1`);
  const tail = rest.pop();
  const lines = rest.map((line, i) => {
    const at = `${path}:${i + 2}`;
    return { value: parseLine(line, at), at };
  });
  if (tail !== '') throw corrupt(`${path}:${rest.length + 2}`, 'the file ends in the middle of a line');
  if (lines.length !== header.count) {
    throw corrupt(
      `${path}:${rest.length + 1}`,
      `the header promises ${header.count} trajectories and ${lines.length} are there`,
    );
  }
  return { header, lines };
}
