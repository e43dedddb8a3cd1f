// The pages of MiniWoB++ as they are shipped, in memory, told from any others by their hash. They are found, never
// fetched: a folder, a wheel of the Python package `miniwob`, an installed one, or the copy that `suite add` keeps.
// Hash: SHA-256 over the files in the byte order of their paths below `html/`: path, NUL, size, NUL, content of each.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { TabwrightError } from '../../core/index.ts';
import { systemEnvironment } from '../../util/index.ts';
import { readZip } from './zip.ts';

export const MINIWOB_VERSION = '1.1.0';
/** Of all 360 files of version 1.1.0. */
export const MINIWOB_CONTENT_HASH = 'ea2e56626cc1da2c61641b93c652c0e2b5aac8c59e11564b452b0844d6978b8e';

export type MiniwobContent = {
  /** Where it was found, for messages. */
  readonly origin: string;
  /** By path below `html/`, e.g. `miniwob/click-test.html`. */
  readonly files: ReadonlyMap<string, Buffer>;
};

export type FindContentOptions = {
  /** A wheel, or a folder that holds the pages: `html/` itself, a checkout, or an installed package. Default: look for it. */
  readonly from?: string;
  /** Default `process.env`: MINIWOB_DIR names such a folder or wheel, XDG_DATA_HOME where the copy is kept. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
};

/** The pages, whose hash is right. Throws `TabwrightError` (`config`) that says where it looked and what to do. */
export async function findMiniwobContent(options: FindContentOptions): Promise<MiniwobContent> {
  const environment = options.environment ?? process.env;
  const named = options.from ?? (environment.MINIWOB_DIR || undefined);
  if (named !== undefined) return checked(await readContent(resolve(named)));
  const kept = keptContentFolder(environment);
  if (await exists(kept)) return checked(await readContent(kept));
  const installed = await installedPackage(options.signal);
  if (installed !== undefined) return checked(await readContent(installed));
  throw new TabwrightError(
    'config',
    `The pages of MiniWoB++ ${MINIWOB_VERSION} were not found: MINIWOB_DIR is not set, ${kept} does not exist, and no ` +
      `python3 here has the package miniwob. Get them with "pip download --no-deps miniwob==${MINIWOB_VERSION}" and give ` +
      'the wheel to "tabwright suite add miniwob --from <wheel>".',
    { code: 'miniwob-not-found', details: { kept } },
  );
}

/** Where `keepMiniwobContent` puts the pages. */
export function keptContentFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const data = environment.XDG_DATA_HOME || join(homedir(), '.local', 'share');
  return join(data, 'tabwright', 'suites', `miniwob-${MINIWOB_VERSION}`);
}

/** Copies the pages to where they are found from then on. A copy that is cut short is not taken for one. */
export async function keepMiniwobContent(
  content: MiniwobContent,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const folder = keptContentFolder(environment);
  const part = `${folder}.${process.pid}.part`;
  for (const [path, bytes] of content.files) {
    await mkdir(dirname(join(part, path)), { recursive: true });
    await writeFile(join(part, path), bytes);
  }
  await rm(folder, { recursive: true, force: true });
  await rename(part, folder);
  return folder;
}

export function hashOfContent(files: ReadonlyMap<string, Buffer>): string {
  const hash = createHash('sha256');
  const paths = [...files.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  for (const path of paths) {
    const content = files.get(path)!;
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

function checked(content: MiniwobContent): MiniwobContent {
  const hash = hashOfContent(content.files);
  if (hash === MINIWOB_CONTENT_HASH) return content;
  throw new TabwrightError(
    'config',
    `The pages in ${content.origin} are not those of MiniWoB++ ${MINIWOB_VERSION}: ${content.files.size} files with the ` +
      `hash ${hash.slice(0, 12)}…, not ${MINIWOB_CONTENT_HASH.slice(0, 12)}…. Figures would not compare; use the files of ` +
      `that version unchanged.`,
    { code: 'miniwob-content-differs', details: { hash, expected: MINIWOB_CONTENT_HASH, origin: content.origin } },
  );
}

async function readContent(path: string): Promise<MiniwobContent> {
  if (!(await exists(path))) {
    throw new TabwrightError('config', `There is nothing at ${path}: no wheel and no folder with MiniWoB++ pages.`, {
      code: 'miniwob-not-found',
      details: { path },
    });
  }
  const files = (await stat(path)).isDirectory() ? await readFolder(path) : await readWheel(path);
  return { origin: path, files };
}

/** Where below a given folder the pages may lie. */
const FOLDERS = ['', 'html', 'miniwob/html'];

async function readFolder(folder: string): Promise<Map<string, Buffer>> {
  for (const below of FOLDERS) {
    const root = join(folder, below);
    if (!(await exists(join(root, 'miniwob', 'click-test.html')))) continue;
    const files = new Map<string, Buffer>();
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      files.set(path.slice(root.length + 1).replaceAll('\\', '/'), await readFile(path));
    }
    return files;
  }
  throw new TabwrightError(
    'config',
    `${folder} holds no MiniWoB++ pages (miniwob/click-test.html in it or its html/).`,
    {
      code: 'miniwob-not-found',
      details: { path: folder },
    },
  );
}

const IN_WHEEL = 'miniwob/html/';

async function readWheel(path: string): Promise<Map<string, Buffer>> {
  try {
    const files = readZip(await readFile(path), (name) => name.startsWith(IN_WHEEL));
    return new Map([...files].map(([name, content]) => [name.slice(IN_WHEEL.length), content]));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TabwrightError('config', `${path} is no wheel of miniwob: ${error.message}.`, {
      code: 'miniwob-not-found',
      details: { path },
      cause: error,
    });
  }
}

/** The package's folder, asked of python3 without running the package. */
function installedPackage(signal: AbortSignal): Promise<string | undefined> {
  const code =
    'import importlib.util as u; s = u.find_spec("miniwob"); print(s.submodule_search_locations[0] if s else "")';
  return new Promise((done, fail) => {
    execFile('python3', ['-c', code], { env: systemEnvironment(), timeout: 10_000, signal }, (error, stdout) => {
      if (signal.aborted) fail(signal.reason as Error);
      // No python3, or one that cannot say: then it has no package for us either.
      else done(error === null ? stdout.trim() || undefined : undefined);
    });
  });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
