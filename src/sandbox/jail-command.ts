// The command line of a jail: what bubblewrap is told, and what runs inside before the program. Pure but for looking
// at how the root folder is laid out. Order matters to bubblewrap: later mounts cover earlier ones.

import { lstatSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import type { JailUser } from './jail-user.ts';
import type { JailLimits } from './limits.ts';

/** A file or folder of the host, seen inside at `to` (default: at the same path). */
export type Bind = { readonly from: string; readonly to?: string };

export type JailCommandOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly readOnly: readonly Bind[];
  readonly readWrite: readonly Bind[];
  /** Whether something is bound at /tmp; otherwise it is a memory file system. */
  readonly tmpIsBound: boolean;
  readonly limits: JailLimits;
  readonly user: JailUser;
  /** See `seccompProgram`. */
  readonly nestedSandbox: boolean;
};

export type JailCommand = {
  /** For bubblewrap, through a descriptor: on its command line they would be visible inside. */
  readonly options: readonly string[];
  /** The program with what runs before it. */
  readonly inner: readonly string[];
};

export const JAIL_HOME = '/home/jail';

export function jailCommand(options: JailCommandOptions): JailCommand {
  return { options: bubblewrapOptions(options), inner: innerCommand(options) };
}

function bubblewrapOptions({
  env,
  readOnly,
  readWrite,
  tmpIsBound,
  limits,
  user,
  nestedSandbox,
}: JailCommandOptions): readonly string[] {
  const tmpfs = (path: string): string[] => ['--size', String(limits.tmpfsBytes), '--perms', '1777', '--tmpfs', path];
  const variables = { HOME: JAIL_HOME, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ...env };
  return [
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--die-with-parent', '--new-session', '--hostname', 'jail', '--clearenv'],
    ...['--cap-drop', 'ALL'],
    ...(user.kind === 'own'
      ? ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID', '--cap-add', 'CAP_SETPCAP']
      : ['--unshare-user', '--uid', String(user.uid), '--gid', String(user.gid)]),
    ...(user.kind === 'mapped' && !nestedSandbox ? ['--disable-userns'] : []),
    ...['--ro-bind', '/usr', '/usr'],
    ...['bin', 'sbin', 'lib', 'lib32', 'lib64'].flatMap(topFolder),
    // The loader's index of libraries, and the links that choose between alternatives of one program.
    ...['/etc/ld.so.cache', '/etc/alternatives'].flatMap((path) => [...parents(path), '--ro-bind-try', path, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...tmpfs('/dev/shm'),
    ...tmpfs(JAIL_HOME),
    ...(tmpIsBound ? [] : tmpfs('/tmp')),
    ...readOnly.flatMap(({ from, to }) => [...parents(to ?? from), '--ro-bind', from, to ?? from]),
    ...readWrite.flatMap(({ from, to }) => [...parents(to ?? from), '--bind', from, to ?? from]),
    // Both are memory without a size of its own, and an ordinary user's own: writable, they would be a memory bomb.
    ...['--remount-ro', '/dev', '--remount-ro', '/'],
    ...['--chdir', JAIL_HOME],
    ...Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** The folders above a bind: made by bubblewrap itself they would be closed to everyone but root. */
function parents(path: string): string[] {
  const names = dirname(path).split('/').slice(1);
  return names.flatMap((name, i) => (name === '' ? [] : ['--dir', `/${names.slice(0, i + 1).join('/')}`]));
}

/** `/bin` and the like: links into /usr on merged systems, folders elsewhere. */
function topFolder(name: string): string[] {
  const stat = lstatSync(`/${name}`, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink()
    ? ['--symlink', readlinkSync(`/${name}`), `/${name}`]
    : ['--ro-bind', `/${name}`, `/${name}`];
}

/** Programs of util-linux, which every distribution with a package manager has. */
function innerCommand({ command, args, limits, user }: JailCommandOptions): readonly string[] {
  const same = (value: number): string => `${value}:${value}`;
  return [
    ...(user.kind === 'own'
      ? [
          ...['/usr/bin/setpriv', '--reuid', String(user.uid), '--regid', String(user.gid), '--clear-groups'],
          ...['--inh-caps=-all', '--bounding-set=-all', '--no-new-privs'],
        ]
      : []),
    '/usr/bin/prlimit',
    `--nproc=${same(limits.processes)}`,
    `--fsize=${same(limits.fileBytes)}`,
    `--nofile=${same(limits.openFiles)}`,
    '--core=0:0',
    ...(limits.dataBytes === undefined ? [] : [`--data=${same(limits.dataBytes)}`]),
    // Where memory runs out, the jail is what the kernel should end.
    ...['/usr/bin/choom', '-n', '1000', '--'],
    command,
    ...args,
  ];
}
