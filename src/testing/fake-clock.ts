// A clock that moves when told to, or by a fixed amount at each reading.

export interface FakeClock {
  /** Milliseconds. */
  now(): number;
  advance(ms: number): void;
}

export function createFakeClock(
  options: { readonly startMs?: number; readonly msPerReading?: number } = {},
): FakeClock {
  const { startMs = 0, msPerReading = 0 } = options;
  let time = startMs;
  return {
    now: () => (time += msPerReading),
    advance: (ms) => {
      time += ms;
    },
  };
}
