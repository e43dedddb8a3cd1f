// The headless shell that comes with the npm package @sparticuz/chromium (Linux x64): three brotli files, unpacked
// once per version into a cache folder. The package's own code is not run: it unpacks into fixed paths of the temp
// folder without atomicity, and brings its NSS libraries along on AWS only, where every bare machine needs them.

import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync, createBrotliDecompress } from 'node:zlib';
import { makeFolder, withDeadline } from '../util/index.ts';
import { unpackFailed } from './failures.ts';
import type { ChromiumLocation } from './location.ts';
import { tarFiles } from './tar.ts';

/** The folder with the package's compressed files; undefined where its browser cannot run or is not installed. */
export function bundledChromiumFolder(platform: NodeJS.Platform): string | undefined {
  if (platform !== 'linux' || process.arch !== 'x64') return undefined;
  if (!existsSync('/lib64/ld-linux-x86-64.so.2')) return undefined; // its ELF interpreter; musl systems have none
  try {
    const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium'); // <package>/build/cjs/index.cjs
    return join(dirname(entry), '..', '..', 'bin');
  } catch {
    return undefined; // not installed: npm may have been told to leave it out
  }
}

/** A jail runs it as a user of its own; there is nothing in it but a published package. */
const READABLE = 0o755;

export type UnpackOptions = {
  /** Gives up unpacking; what was unpacked so far is removed. */
  readonly signal?: AbortSignal;
  /** Milliseconds; default 120000. */
  readonly deadlineMs?: number;
};

/** Unpacks the browser if this version is not in the cache yet (about 3 s) and says where it is. */
export async function unpackBundledChromium(folder: string, options: UnpackOptions = {}): Promise<ChromiumLocation> {
  const { version } = JSON.parse(readFileSync(join(folder, '..', 'package.json'), 'utf8')) as { version: string };
  const target = join(cacheFolder(), `chromium-${version}`);
  if (!existsSync(target)) await unpackInTime(folder, target, options);
  else if ((statSync(target).mode & 0o777) !== READABLE) chmodSync(target, READABLE); // unpacked by an older version
  return {
    path: join(target, 'chromium'),
    likely: 'headless-shell',
    env: {
      LD_LIBRARY_PATH: [join(target, 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
      // Only a machine without font configuration needs the packaged font.
      ...(existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_FILE: join(target, 'fonts.conf') }),
    },
  };
}

function cacheFolder(): string {
  const root = process.env.XDG_CACHE_HOME ?? (process.env.HOME === undefined ? tmpdir() : join(homedir(), '.cache'));
  return join(root, 'tabwright');
}

function unpackInTime(folder: string, target: string, { signal, deadlineMs = 120_000 }: UnpackOptions): Promise<void> {
  const late = (): Error => unpackFailed(target, new Error(`it took longer than ${deadlineMs} ms`));
  const deadline = { ms: deadlineMs, onExpiry: late, ...(signal === undefined ? {} : { signal }) };
  return withDeadline(deadline, (inner) => unpackAtomically(folder, target, inner));
}

/** Unpacks beside the target and renames, so that a half-unpacked browser is never seen; the first of two wins. */
async function unpackAtomically(folder: string, target: string, signal: AbortSignal): Promise<void> {
  let partial: string | undefined;
  try {
    await makeFolder(dirname(target));
    removeAbandoned(target);
    partial = mkdtempSync(`${target}.partial-`);
    for (const archive of ['al2023.tar.br', 'fonts.tar.br']) {
      for (const file of tarFiles(brotliDecompressSync(readFileSync(join(folder, archive))))) {
        const path = join(partial, file.name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, file.data);
      }
    }
    writeFileSync(join(partial, 'fonts.conf'), fontConfiguration(join(target, 'fonts')));
    await pipeline(
      createReadStream(join(folder, 'chromium.br')),
      createBrotliDecompress(),
      createWriteStream(join(partial, 'chromium'), { mode: 0o755 }),
      { signal },
    );
    chmodSync(partial, READABLE);
    renameSync(partial, target);
  } catch (error) {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
    signal.throwIfAborted();
    if (!existsSync(target)) throw unpackFailed(target, error); // else: another process was faster
  }
}

/** What an unpacking that was killed left behind; a living one is done long before this age. */
const ABANDONED_AFTER_MS = 3_600_000;

function removeAbandoned(target: string): void {
  for (const name of readdirSync(dirname(target))) {
    const folder = join(dirname(target), name);
    if (!folder.startsWith(`${target}.partial-`)) continue;
    const modified = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
    if (modified !== undefined && Date.now() - modified > ABANDONED_AFTER_MS)
      rmSync(folder, { recursive: true, force: true });
  }
}

function fontConfiguration(fonts: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${fonts}</dir><cachedir>${join(tmpdir(), 'tabwright-font-cache')}</cachedir></fontconfig>
`;
}
