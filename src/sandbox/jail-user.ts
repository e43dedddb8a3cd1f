// Whose rights jailed code has. Started by root, every jail gets a user that exists nowhere else: it owns no file,
// and the kernel counts its processes apart. Started by an ordinary user, it is that user in a namespace of its own,
// because becoming someone else is root's privilege.

import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type JailUser =
  /** A user id of the machine; groups are given so that the jails of one session share a scratch folder. */
  | { readonly kind: 'own'; readonly uid: number; readonly gid: number }
  /** The starting user, seen inside as this id. */
  | { readonly kind: 'mapped'; readonly uid: number; readonly gid: number };

/** Far above what systems and directories hand out, below the largest id of 31 bits. */
const FIRST = 1_800_000_000;
const COUNT = 300_000_000;

/** An id that no account has; two jails getting the same one is as likely as guessing it. */
export function freshId(): number {
  return FIRST + randomInt(COUNT);
}

/** CAP_SETGID, CAP_SETUID, CAP_SYS_ADMIN. Root of a container may lack them, and is like an ordinary user then. */
const NEEDED = (1n << 6n) | (1n << 7n) | (1n << 21n);

/** Whether this process may make namespaces and become anybody. */
export function isFullRoot(): boolean {
  if (process.getuid?.() !== 0) return false;
  const effective = /^CapEff:\s+([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${effective}`) & NEEDED) === NEEDED;
}

/** `gid`: the group of the session's scratch folder, if there is one. */
export function createJailUser(gid?: number): JailUser {
  if (!isFullRoot()) return { kind: 'mapped', uid: 1000, gid: 1000 };
  const uid = freshId();
  return { kind: 'own', uid, gid: gid ?? uid };
}
