import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { seccompProgram, systemCalls } from './seccomp.ts';

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

const strictArm = seccompProgram({ arch: 'arm64', nestedSandbox: false })!;
const ARM64 = 0xc00000b7;

// Numbers: include/uapi/asm-generic/unistd.h, which arm64 uses as it is.
test.each([
  ['read', { number: 63 }, ALLOW],
  ['execve', { number: 221 }, ALLOW],
  ['a local socket', { number: 198, first: 1 }, ALLOW],
  ['a socket to the hypervisor', { number: 198, first: 40 }, refused(97)],
  ['a pair of packet sockets', { number: 199, first: 17 }, refused(97)],
  ['a thread', { number: 220, first: 0x3d0f00 }, ALLOW],
  ['a user namespace by clone', { number: 220, first: 0x10000000 }, refused(1)],
  ['clone3', { number: 435 }, refused(38)],
  ['unshare', { number: 97 }, refused(1)],
  ['mount', { number: 40 }, refused(1)],
  ['ptrace', { number: 117 }, refused(1)],
  ['keyctl', { number: 219 }, refused(1)],
  ['memfd_create', { number: 279 }, refused(1)],
  ['bpf', { number: 280 }, refused(1)],
  ['io_uring_setup', { number: 425 }, refused(1)],
  ['a call in the numbers of x64', { arch: X64, number: 63 }, 0x80000000],
] as const)('arm64: %s', (_name, call, expected) => {
  expect(verdict(strictArm, { arch: ARM64, ...call })).toBe(expected);
});

/** What a kernel header says the numbers are. */
function published(path: string): ReadonlyMap<string, number> {
  const text = readFileSync(path, 'utf8');
  return new Map(
    [...text.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm)].map(([, name, number]) => [name, Number(number)]),
  );
}

const HEADERS = [
  { arch: 'x64', path: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h' },
  { arch: 'arm64', path: '/usr/include/asm-generic/unistd.h' },
].filter(({ path }) => existsSync(path));

// Without kernel headers the cases above hold the tables to known numbers.
test.skipIf(HEADERS.length === 0).each(HEADERS)(
  "every call of $arch has the number of the kernel's header",
  ({ arch, path }) => {
    const numbers = published(path);
    const wrong = Object.entries(systemCalls(arch)!).filter(([name, number]) => numbers.get(name) !== number);
    // Newer than the header: nothing to compare with.
    expect(wrong.filter(([name]) => numbers.has(name))).toEqual([]);
    expect(wrong.length).toBeLessThan(8);
  },
);
