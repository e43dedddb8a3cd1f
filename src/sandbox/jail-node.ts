// This process's Node, as a jail can have it: under /usr as it is, from elsewhere (a version manager's folder in
// somebody's home) as one file bound in, because nothing else of such a folder is the jail's business.

import { realpathSync } from 'node:fs';
import type { Bind } from './jail-command.ts';

export type JailNode = { readonly command: string; readonly readOnly: readonly Bind[] };

export function jailNode(): JailNode {
  const path = realpathSync(process.execPath);
  if (path.startsWith('/usr/')) return { command: path, readOnly: [] };
  return { command: '/opt/node', readOnly: [{ from: path, to: '/opt/node' }] };
}
