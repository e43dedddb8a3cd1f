// The process of the cells in a jail: what it may read of this machine (Node, its own modules, what runs them, and
// packages that are named; nothing else of this project), and what it may use. It has no network at all. It fails
// closed: without a jail that was tried out there is no cell.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join, relative } from 'node:path';
import {
  jailNode,
  requireJail,
  spawnJailed,
  type Bind,
  type JailedProcess,
  type JailLimits,
  type SandboxProbe,
  type ScratchFolder,
} from '../sandbox/index.ts';
import { TabwrightError } from '../core/index.ts';
import { runEntry } from '../util/index.ts';
import { cellEntry, type CellCommand } from './cell-child.ts';

export type JailedCellOptions = {
  /** What was found out about this machine; a start is refused where the jail does not hold. */
  readonly probe: SandboxProbe;
  /** Seen inside at /tmp, as the browser of the session sees it. Default: a /tmp of its own. */
  readonly scratch?: ScratchFolder;
  /** Installed packages that cells may import, with those that they need. Default none. */
  readonly packages?: readonly string[];
  /** Default: `CELL_LIMITS`, entry by entry. */
  readonly limits?: Partial<JailLimits>;
};

/** For the options of a cell process. */
export type JailedCell = {
  readonly spawn: (command: CellCommand) => JailedProcess;
  readonly importFrom: string;
};

const MIB = 1024 * 1024;

/** A heap of 512 MiB, what lies beside it, and a few programs that a cell may start. */
export const CELL_LIMITS: Partial<JailLimits> = { memoryBytes: 1024 * MIB, dataBytes: 2048 * MIB, processes: 128 };

/** Inside: where this project lies on the host is nobody's business there. */
const ROOT = '/opt/tabwright';

export function jailedCell({ probe, scratch, packages = [], limits }: JailedCellOptions): JailedCell {
  requireJail(probe);
  const node = jailNode();
  const entry = cellEntry(); // <root>/<src or dist>/repl/cell/main
  const folder = dirname(entry.file);
  const root = join(folder, '..', '..', '..');
  const files = [
    folder,
    join(folder, '..', `wire-values${extname(entry.file)}`),
    ...['package.json', 'tsconfig.json'].map((name) => join(root, name)).filter((path) => existsSync(path)),
  ];
  const folders = packageFolders(['acorn', 'ws', ...packages], import.meta.url);
  for (const path of entry.loaderPackages) folders.set(packageName(path), path);
  const readOnly: readonly Bind[] = [
    ...node.readOnly,
    ...files.map((from) => ({ from, to: join(ROOT, relative(root, from)) })),
    ...[...folders].map(([name, from]) => ({ from, to: join(ROOT, 'node_modules', name) })),
  ];
  const inside = (path: string): string => {
    const bind = readOnly.find(({ from }) => path === from || path.startsWith(`${from}/`))!;
    return join(bind.to ?? bind.from, relative(bind.from, path));
  };
  return {
    importFrom: ROOT,
    spawn: ({ flags, env, stdio }) =>
      spawnJailed({
        command: node.command,
        args: [...flags, ...runEntry(entry, inside)],
        env,
        stdio,
        readOnly,
        limits: { ...CELL_LIMITS, ...limits },
        ...(scratch === undefined ? {} : { scratch }),
      }),
  };
}

/** Those of the packages that are installed here. */
export function installedPackages(names: readonly string[]): readonly string[] {
  return names.filter((name) => findManifest(name, import.meta.url) !== undefined);
}

/** Folders of packages and of all that they depend on, by name. One version of each: the first that is found. */
function packageFolders(
  names: readonly string[],
  from: string,
  found = new Map<string, string>(),
): Map<string, string> {
  for (const name of names.filter((one) => !found.has(one))) {
    const manifest = manifestOf(name, from);
    found.set(name, dirname(manifest));
    const { dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8')) as {
      dependencies?: Record<string, string>;
    };
    packageFolders(Object.keys(dependencies), manifest, found);
  }
  return found;
}

/** Not every package lets its manifest be resolved, so the folders are looked through as Node would. */
function findManifest(name: string, from: string): string | undefined {
  const folders = createRequire(from).resolve.paths(name) ?? [];
  return folders.map((folder) => join(folder, name, 'package.json')).find((path) => existsSync(path));
}

function manifestOf(name: string, from: string): string {
  const manifest = findManifest(name, from);
  if (manifest === undefined) throw packageMissing(name);
  return manifest;
}

function packageMissing(name: string): TabwrightError {
  return new TabwrightError(
    'config',
    `cells are to import ${name}, which is not installed here; install it or leave it out`,
    {
      code: 'package-missing',
      details: { name },
    },
  );
}

/** Of the folder that a package lies in. */
function packageName(folder: string): string {
  const scope = basename(dirname(folder));
  return scope.startsWith('@') ? `${scope}/${basename(folder)}` : basename(folder);
}
