// The texts of a model folder that go with its weights: its tokenizer, its chat template, its licence. A model folder is a
// stranger's, and what is made of it is meant for sharing, so only known names are taken and no link out of the folder.

import { readFile, realpath, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TabwrightError } from '../../core/index.ts';
import { MODEL_COMPANION } from '../../engine/index.ts';

export type Companions = {
  /** Real paths by name. */
  readonly files: ReadonlyMap<string, string>;
  /** Undefined where the folder has none of that name. */
  readonly text: (name: string) => Promise<string | undefined>;
  readonly json: (name: string) => Promise<unknown>;
};

export async function modelCompanions(folder: string): Promise<Companions> {
  const names = (await readdir(folder)).filter((name) => MODEL_COMPANION.test(name)).sort();
  const root = await realpath(folder);
  const files = new Map<string, string>();
  for (const name of names) files.set(name, await companion(join(folder, name), root));
  const text = async (name: string): Promise<string | undefined> => {
    const path = files.get(name);
    return path === undefined ? undefined : readFile(path, 'utf8').catch((error: unknown) => throwUnread(path, error));
  };
  return {
    files,
    text,
    async json(name) {
      const written = await text(name);
      if (written === undefined) return undefined;
      try {
        return JSON.parse(written) as unknown;
      } catch (error) {
        throw refused(
          join(folder, name),
          `is not JSON (${(error as Error).message}); restore it from its source`,
          error,
        );
      }
    },
  };
}

async function companion(path: string, root: string): Promise<string> {
  const real = await realpath(path).catch((error: unknown) => throwUnread(path, error));
  if (!(await stat(real)).isFile()) {
    throw refused(path, 'is no file; a model folder has a file there, or nothing');
  }
  if (dirname(real) === root || dirname(real) === blobsOf(root)) return real;
  throw refused(path, `is a link to ${real}, out of the model's folder; put the file itself there if it belongs to it`);
}

/** Caches of the hub keep the files of all commits in one folder and link to them: `blobs` beside `snapshots/<commit>`. */
function blobsOf(root: string): string | undefined {
  const above = dirname(root);
  return basename(above) === 'snapshots' ? join(dirname(above), 'blobs') : undefined;
}

function throwUnread(path: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  throw refused(path, `could not be read (${code}); check where it leads and its permissions`, error);
}

function refused(path: string, why: string, cause?: unknown): TabwrightError {
  return new TabwrightError('config', `${path} ${why}.`, { code: 'bad-model-file', details: { path }, cause });
}
