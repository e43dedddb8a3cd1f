// Where a module of this project lies that is the entry of a child process, and how Node runs it: in `dist` as the
// JavaScript it is, in the sources as TypeScript under tsx. Nothing else knows the difference.

import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export type ChildEntry = {
  /** Path of the module, with the ending that it has here. */
  readonly file: string;
  /** Path of the module that makes Node understand it; none in `dist`. */
  readonly loader?: string;
  /** Folders of the packages that the loader consists of. */
  readonly loaderPackages: readonly string[];
};

/** The entry at `path` (relative, without its ending) as seen from the module at `caller`, an `import.meta.url`. */
export function childEntry(caller: string, path: string): ChildEntry {
  const isSource = caller.endsWith('.ts');
  const file = fileURLToPath(new URL(`${path}${isSource ? '.ts' : '.js'}`, caller));
  if (!isSource) return { file, loaderPackages: [] };
  const own = createRequire(caller);
  const tsx = createRequire(own.resolve('tsx'));
  const manifests = [
    own.resolve('tsx/package.json'),
    tsx.resolve('esbuild/package.json'),
    tsx.resolve(`@esbuild/${process.platform}-${process.arch}/package.json`),
  ];
  return { file, loader: own.resolve('tsx'), loaderPackages: manifests.map((manifest) => dirname(manifest)) };
}

/** Node's arguments that run it. `at` tells where a path of this machine is seen by the child. Default: the same. */
export function runEntry({ file, loader }: ChildEntry, at: (path: string) => string = (path) => path): string[] {
  return loader === undefined ? [at(file)] : ['--import', pathToFileURL(at(loader)).href, at(file)];
}
