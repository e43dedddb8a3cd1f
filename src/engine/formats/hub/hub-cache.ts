// Where fetched models lie: `<cache>/<owner>--<name>/<commit>/` with a manifest that is written last, so that a folder
// without one is unfinished; `refs/` has the commit that a branch or tag last stood for; `partial/` what was cut off.

import { open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isProcessAlive, makeFolder, writeFileAtomic } from '../../../util/index.ts';
import { hubError } from './hub-client.ts';
import type { PlannedFile } from './hub-plan.ts';

const manifestSchema = z.object({
  repo: z.string(),
  commit: z.string(),
  files: z.array(z.object({ name: z.string(), bytes: z.number(), sum: z.string() })),
});

export type RepoCache = {
  /** The folder of a commit, if everything of it is there. */
  complete(commit: string): Promise<string | undefined>;
  /** The commit that a revision stood for when it was last asked. */
  commitOf(revision: string): Promise<string | undefined>;
  remember(revision: string, commit: string): Promise<void>;
  /** Makes the folder of a commit. */
  begin(commit: string): Promise<string>;
  finish(commit: string, files: readonly PlannedFile[]): Promise<void>;
  /** Where a file grows until it is whole. */
  partialPath(commit: string, name: string): string;
  /** One process fetches at a time. */
  lock(): Promise<AsyncDisposable>;
};

export function repoCache(cache: string, repo: string): RepoCache {
  const root = join(cache, repo.replace('/', '--'));
  // Revisions may hold slashes and more; an encoded one is a single name.
  const refPath = (revision: string): string => join(root, 'refs', encodeURIComponent(revision).replaceAll('.', '%2E'));
  const manifestPath = (commit: string): string => join(root, `${commit}.json`);
  return {
    async complete(commit) {
      const manifest = manifestSchema.safeParse(await readJson(manifestPath(commit)));
      if (!manifest.success) return undefined;
      for (const { name, bytes } of manifest.data.files) {
        const found = await stat(join(root, commit, name)).catch(() => undefined); // missing: fetched again
        if (found?.size !== bytes) return undefined;
      }
      return join(root, commit);
    },
    async commitOf(revision) {
      const text = await readFile(refPath(revision), 'utf8').catch(() => ''); // never asked: the hub is
      return isCommit(text) ? text : undefined;
    },
    async remember(revision, commit) {
      await makeFolder(join(root, 'refs'));
      await writeFileAtomic(refPath(revision), commit);
    },
    async begin(commit) {
      await makeFolder(join(root, 'partial'));
      await makeFolder(join(root, commit));
      return join(root, commit);
    },
    async finish(commit, files) {
      const listed = files.map(({ name, bytes, checksum }) => ({
        name,
        bytes,
        sum: `${checksum.kind}:${checksum.hex}`,
      }));
      await writeFileAtomic(manifestPath(commit), `${JSON.stringify({ repo, commit, files: listed }, null, 2)}\n`);
    },
    partialPath: (commit, name) => join(root, 'partial', `${commit}-${name}`),
    async lock() {
      await makeFolder(root);
      return takeLock(join(root, 'lock'), repo);
    },
  };
}

export const isCommit = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

async function takeLock(path: string, repo: string): Promise<AsyncDisposable> {
  for (let attempt = 0; ; attempt++) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(String(process.pid));
      await file.close();
      return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST') || attempt > 0) throw error;
      const owner = Number(await readFile(path, 'utf8').catch(() => ''));
      if (owner !== process.pid && owner > 0 && isProcessAlive(owner)) {
        throw hubError('download-in-progress', `Process ${owner} is fetching ${repo} already; wait for it.`, { repo });
      }
      if (owner === process.pid) {
        throw hubError('download-in-progress', `${repo} is being fetched already; wait for it.`, { repo });
      }
      await rm(path, { force: true }); // its owner ended without tidying up
    }
  }
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch {
    return undefined; // no manifest, or a damaged one: the model counts as not there
  }
}
