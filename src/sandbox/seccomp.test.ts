import { expect, test } from 'vitest';
import { seccompProgram } from './seccomp.ts';

const X64 = 0xc000003e;
const ALLOW = 0x7fff0000;
const refused = (errno: number): number => 0x00050000 | errno;

type Call = { readonly arch?: number; readonly number: number; readonly first?: number };

/** Runs the filter as the kernel does. */
function verdict(program: Buffer, { arch = X64, number, first = 0 }: Call): number {
  const data = new Map([
    [0, number],
    [4, arch],
    [16, first],
  ]);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const [code, jumpTrue, jumpFalse] = [program.readUInt16LE(at * 8), program[at * 8 + 2], program[at * 8 + 3]];
    const k = program.readUInt32LE(at * 8 + 4);
    if (code === 0x20) accumulator = data.get(k)!;
    else if (code === 0x06) return k;
    else {
      const holds = { 0x15: accumulator === k, 0x35: accumulator >= k, 0x45: (accumulator & k) !== 0 }[code]!;
      at += holds ? jumpTrue : jumpFalse;
    }
  }
}

const strict = seccompProgram({ arch: 'x64', nestedSandbox: false })!;
const nested = seccompProgram({ arch: 'x64', nestedSandbox: true })!;

// Numbers: arch/x86/entry/syscalls/syscall_64.tbl; families: include/linux/socket.h.
test.each([
  ['read', { number: 0 }, ALLOW],
  ['execve', { number: 59 }, ALLOW],
  ['a local socket', { number: 41, first: 1 }, ALLOW],
  ['an IPv6 socket', { number: 41, first: 10 }, ALLOW],
  ['a socket to the hypervisor', { number: 41, first: 40 }, refused(97)],
  ['a socket to the crypto API', { number: 41, first: 38 }, refused(97)],
  ['a packet socket', { number: 53, first: 17 }, refused(97)],
  ['a thread', { number: 56, first: 0x3d0f00 }, ALLOW],
  ['a user namespace by clone', { number: 56, first: 0x10000000 }, refused(1)],
  ['clone3, whose flags cannot be seen', { number: 435 }, refused(38)],
  ['unshare', { number: 272 }, refused(1)],
  ['mount', { number: 165 }, refused(1)],
  ['keyctl', { number: 250 }, refused(1)],
  ['memfd_create, whose memory is in no limit', { number: 319 }, refused(1)],
  ['io_uring_setup', { number: 425 }, refused(1)],
  ['a call by its x32 number', { number: 0x40000000 + 41, first: 40 }, refused(38)],
  ['a call in the numbers of i386', { arch: 0x40000003, number: 359 }, 0x80000000],
] as const)('%s', (_name, call, expected) => expect(verdict(strict, call)).toBe(expected));

test('a program with its own sandbox may make namespaces, and gets no socket to the hypervisor either', () => {
  expect(verdict(nested, { number: 56, first: 0x10000000 })).toBe(ALLOW);
  expect(verdict(nested, { number: 272 })).toBe(ALLOW);
  expect(verdict(nested, { number: 41, first: 40 })).toBe(refused(97));
});

test('an architecture without a table gets no filter', () => {
  expect(seccompProgram({ arch: 'riscv64', nestedSandbox: false })).toBeUndefined();
});
