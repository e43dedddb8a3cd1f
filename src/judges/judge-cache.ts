// Judgements on disk, so that the same episode is not paid for twice. A key is what the judge saw, who it is and with which
// prompts; only verdicts are kept, since what failed may not fail again. A file that is damaged, of another version or of
// another key is not believed: the judge is asked anew and the file replaced.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { TabwrightError } from '../core/index.ts';
import { makeFolder, writeFileAtomic } from '../util/index.ts';
import type { Judge, JudgeInput, Judgement } from './judge.ts';
import { NOTHING_SPENT } from './spending.ts';

export type JudgeCacheOptions = {
  /** Made if it is not there. */
  readonly folder: string;
  /** Told of a file that was not believed. */
  readonly onDamaged?: (path: string) => void;
};

const VERSION = 1;
const contentSchema = z.strictObject({
  key: z.string(),
  judge: z.string(),
  verdict: z.enum(['success', 'failure']),
  reasoning: z.string(),
  details: z.record(z.string(), z.json()),
});
const fileSchema = z.strictObject({
  format: z.literal('tabwright-judgement'),
  version: z.literal(VERSION),
  /** Of `content` as JSON: a flipped verdict must not pass for one. */
  sha256: z.string(),
  content: contentSchema,
});

type Content = z.output<typeof contentSchema>;

export function withJudgeCache(judge: Judge, { folder, onDamaged }: JudgeCacheOptions): Judge {
  return {
    ...judge,
    spent: () => judge.spent(),
    async judge(input, options) {
      const key = judgementKey(judge, input);
      const path = join(folder, `${key}.json`);
      const kept = await readEntry(path, key);
      if (kept === 'damaged') onDamaged?.(path);
      else if (kept !== undefined) {
        const { verdict, reasoning, details } = kept;
        return { verdict, reasoning, details, spending: NOTHING_SPENT, cached: true };
      }
      const judgement = await judge.judge(input, options);
      await keep({ folder, path, key, judge, judgement });
      return judgement;
    },
  };
}

/** Of everything that a judge is shown, pictures by their bytes. */
export function inputHash({ pictures, ...input }: JudgeInput): string {
  const hash = createHash('sha256').update(JSON.stringify(Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1))));
  for (const bytes of pictures) hash.update(createHash('sha256').update(bytes).digest());
  return hash.digest('hex');
}

export function judgementKey(
  { id, promptHash, model }: Pick<Judge, 'id' | 'promptHash' | 'model'>,
  input: JudgeInput,
): string {
  return sha256(JSON.stringify([inputHash(input), id, promptHash, model]));
}

async function readEntry(path: string, key: string): Promise<Content | 'damaged' | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cacheFailed('read', path, error);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'damaged';
  }
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) return 'damaged';
  const { content, sha256: expected } = parsed.data;
  return content.key === key && sha256(JSON.stringify(content)) === expected ? content : 'damaged';
}

type KeepOptions = {
  readonly folder: string;
  readonly path: string;
  readonly key: string;
  readonly judge: Judge;
  readonly judgement: Judgement;
};

async function keep({ folder, path, key, judge, judgement }: KeepOptions): Promise<void> {
  if (judgement.verdict === 'invalid') return;
  const { verdict, reasoning, details } = judgement;
  // As it will be read again: the hash is of that.
  const content = contentSchema.parse(
    JSON.parse(JSON.stringify({ key, judge: judge.id, verdict, reasoning, details })),
  );
  const file = { format: 'tabwright-judgement', version: VERSION, sha256: sha256(JSON.stringify(content)), content };
  try {
    await makeFolder(folder);
    await writeFileAtomic(path, `${JSON.stringify(file)}\n`);
  } catch (error) {
    throw cacheFailed('write', path, error);
  }
}

function cacheFailed(doing: 'read' | 'write', path: string, cause: unknown): TabwrightError {
  return new TabwrightError('store', `The cache of judgements cannot ${doing} ${path}: ${(cause as Error).message}`, {
    code: `cannot-${doing}`,
    details: { path },
    cause,
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
