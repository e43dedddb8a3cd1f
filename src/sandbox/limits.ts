// What a jail may use. The kernel enforces what has an rlimit (processes, size of a file, open files, private memory
// of one process); what has none (memory of all processes together, size of the scratch folder, wall time) is
// watched, and a jail over it is killed.

export type JailLimits = {
  /** Memory that is the jail's own, all processes together: anonymous and shared, no mapped files. Bytes. Watched. */
  readonly memoryBytes: number;
  /** Processes and threads at one time. As root each jail has a user of its own, so the count is its own. */
  readonly processes: number;
  /** Private writable memory of each process, bytes (RLIMIT_DATA). Default none: engines reserve more than they use. */
  readonly dataBytes?: number;
  /** Size of any one file, bytes. */
  readonly fileBytes: number;
  /** Open files of each process. */
  readonly openFiles: number;
  /** Size of each of the two memory file systems, home and /dev/shm (and /tmp where there is no scratch). Bytes. */
  readonly tmpfsBytes: number;
  /** Contents of the scratch folder, bytes. Watched. */
  readonly scratchBytes: number;
  /** Files and folders in the scratch folder. Watched. */
  readonly scratchEntries: number;
  /** Life of the jail, milliseconds. Default none. */
  readonly wallMs?: number;
};

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: JailLimits = {
  memoryBytes: 1024 * MIB,
  processes: 128,
  fileBytes: 256 * MIB,
  openFiles: 1024,
  tmpfsBytes: 128 * MIB,
  scratchBytes: 512 * MIB,
  scratchEntries: 10_000,
};

export type LimitBreach = {
  readonly limit: 'memoryBytes' | 'scratchBytes' | 'scratchEntries' | 'wallMs';
  readonly value: number;
  readonly allowed: number;
};
