// Which versions a run is made with. Those of packages stand in the package's own manifest, exact ones.

import { readFileSync } from 'node:fs';

export type RunVersions = {
  readonly tabwright: string;
  readonly node: string;
  readonly onnxruntime: string;
  /** As it calls itself. Absent where the command starts none. */
  readonly chromium?: string;
};

export function packageVersion(): string {
  return manifest().version;
}

export function runVersions(chromium?: string): RunVersions {
  const { version, dependencies } = manifest();
  return {
    tabwright: version,
    node: process.version,
    onnxruntime: dependencies['onnxruntime-node'],
    ...(chromium === undefined ? {} : { chromium }),
  };
}

type Manifest = { readonly version: string; readonly dependencies: { readonly 'onnxruntime-node': string } };

function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;
}
