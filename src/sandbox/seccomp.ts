// The system calls that a jail may not make, as a program for the kernel's packet filter. Namespaces hide files,
// processes and networks; they do not cover sockets to a hypervisor (vsock), kernel keyrings, memory that no limit
// counts, or the rarely used calls in which most kernel faults are found.
// A deny-list, because Node and Chromium need most of the rest. Source: seccomp(2), linux/bpf_common.h.

export type SeccompOptions = {
  /** `process.arch`. Other architectures than x64 and arm64 have no table and get no jail. */
  readonly arch: string;
  /** A program with a sandbox of its own (Chromium) makes namespaces and shares memory by descriptors. */
  readonly nestedSandbox: boolean;
};

type Architecture = { readonly audit: number; readonly calls: Readonly<Record<string, number>> };

/** Calls numbered alike on every architecture that is newer than they are. */
const COMMON = {
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  clone3: 435,
  pidfd_getfd: 438,
  mount_setattr: 442,
  memfd_secret: 447,
} as const;

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    calls: {
      ...COMMON,
      socket: 41,
      socketpair: 53,
      clone: 56,
      shmget: 29,
      msgget: 68,
      semget: 64,
      ptrace: 101,
      syslog: 103,
      personality: 135,
      pivot_root: 155,
      chroot: 161,
      acct: 163,
      mount: 165,
      umount2: 166,
      swapon: 167,
      reboot: 169,
      iopl: 172,
      ioperm: 173,
      init_module: 175,
      delete_module: 176,
      quotactl: 179,
      lookup_dcookie: 212,
      mq_open: 240,
      kexec_load: 246,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      unshare: 272,
      move_pages: 279,
      perf_event_open: 298,
      open_by_handle_at: 304,
      setns: 308,
      process_vm_readv: 310,
      process_vm_writev: 311,
      kcmp: 312,
      finit_module: 313,
      memfd_create: 319,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    audit: 0xc00000b7,
    calls: {
      ...COMMON,
      lookup_dcookie: 18,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      chroot: 51,
      quotactl: 60,
      acct: 89,
      personality: 92,
      unshare: 97,
      kexec_load: 104,
      init_module: 105,
      delete_module: 106,
      syslog: 116,
      ptrace: 117,
      reboot: 142,
      mq_open: 180,
      msgget: 186,
      semget: 190,
      shmget: 194,
      socket: 198,
      socketpair: 199,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      clone: 220,
      swapon: 224,
      move_pages: 239,
      perf_event_open: 241,
      open_by_handle_at: 265,
      setns: 268,
      process_vm_readv: 270,
      process_vm_writev: 271,
      kcmp: 272,
      finit_module: 273,
      memfd_create: 279,
      bpf: 280,
      userfaultfd: 282,
    },
  },
};

/** What Chromium's own sandbox and its shared memory need. */
const NESTED: ReadonlySet<string> = new Set(['unshare', 'chroot', 'ptrace', 'memfd_create', 'clone', 'clone3', 'kcmp']);

/** Address families: local, IPv4, IPv6, and the kernel's own about interfaces (Chromium asks it for its network). */
const FAMILIES = [1, 2, 10, 16];

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NAMESPACES = 0x7e020000;

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const ANY_BIT = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const errno = (code: number): number => 0x00050000 | code;

/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCH = 4;
const FIRST_ARGUMENT = 16;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number];

/** Numbers by name of the calls that the filter knows, for tests against the kernel's headers. */
export function systemCalls(arch: string): Readonly<Record<string, number>> | undefined {
  return ARCHITECTURES[arch]?.calls;
}

/** The filter as bubblewrap reads it; undefined where there is no table for the architecture. */
export function seccompProgram({ arch, nestedSandbox }: SeccompOptions): Buffer | undefined {
  const architecture = ARCHITECTURES[arch];
  if (architecture === undefined) return undefined;
  const { audit, calls } = architecture;
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCH],
    [EQUAL, 1, 0, audit], // a call in another architecture's numbers (i386 on x64) would pass under a wrong name
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
    [AT_LEAST, 0, 1, 0x40000000], // x32 numbers, likewise
    [RETURN, 0, 0, errno(ENOSYS)],
  ];
  for (const name of ['socket', 'socketpair']) {
    program.push(
      [EQUAL, 0, FAMILIES.length + 3, calls[name]],
      [LOAD, 0, 0, FIRST_ARGUMENT],
      ...FAMILIES.map((family, i): Instruction => [EQUAL, FAMILIES.length - i, 0, family]),
      [RETURN, 0, 0, errno(EAFNOSUPPORT)],
      [RETURN, 0, 0, ALLOW],
    );
  }
  if (!nestedSandbox) {
    program.push(
      [EQUAL, 0, 4, calls.clone],
      [LOAD, 0, 0, FIRST_ARGUMENT],
      [ANY_BIT, 0, 1, NAMESPACES],
      [RETURN, 0, 0, errno(EPERM)],
      [RETURN, 0, 0, ALLOW],
      // Its flags lie in memory, where no filter can look; the C library falls back to clone.
      [EQUAL, 0, 1, calls.clone3],
      [RETURN, 0, 0, errno(ENOSYS)],
    );
  }
  const judged = ['socket', 'socketpair', 'clone', 'clone3'];
  for (const [name, number] of Object.entries(calls)) {
    if (judged.includes(name) || (nestedSandbox && NESTED.has(name))) continue;
    program.push([EQUAL, 0, 1, number], [RETURN, 0, 0, errno(EPERM)]);
  }
  program.push([RETURN, 0, 0, ALLOW]);

  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jumpTrue, jumpFalse, k], i) => {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(jumpTrue, i * 8 + 2);
    bytes.writeUInt8(jumpFalse, i * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, i * 8 + 4);
  });
  return bytes;
}
