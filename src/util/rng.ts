// Seeded pseudo-random numbers: small, fast, and the same on every machine. Not for secrets.
// Generator: sfc32 (Doty-Humphrey, PractRand); a seed of any kind is spread by a 32-bit mixing hash.

export interface Rng {
  /** Uniform in [0, 1), 32 bits of resolution. */
  next(): number;
  /** Uniform integer in [low, high). */
  integer(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
  /** A shuffled copy. */
  shuffle<T>(items: readonly T[]): T[];
  /** An independent generator named by `key`; the parent is not advanced. */
  fork(key: string | number): Rng;
}

/** A generator for `seed`; parts of a compound seed are kept apart, so `(1, 23)` and `(12, 3)` differ. */
export function createRng(...seed: readonly (string | number)[]): Rng {
  const key = seed.map(String).join('\u0000');
  let [a, b, c, d] = [hash(key, 0x9e3779b9), hash(key, 0x243f6a88), hash(key, 0xb7e15162), 1];
  const next32 = (): number => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    c |= 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) next32();
  const rng: Rng = {
    next: () => next32() / 2 ** 32,
    integer(low, high) {
      if (!(Number.isInteger(low) && Number.isInteger(high) && high > low)) {
        throw new RangeError(`rng.integer needs integers low < high, got [${low}, ${high})`);
      }
      return low + Math.floor(rng.next() * (high - low));
    },
    pick(items) {
      if (items.length === 0) throw new RangeError('rng.pick needs at least one item');
      return items[rng.integer(0, items.length)];
    },
    shuffle(items) {
      const copy = [...items];
      for (let i = copy.length - 1; i > 0; i--) {
        const j = rng.integer(0, i + 1);
        [copy[i], copy[j]] = [copy[j], copy[i]];
      }
      return copy;
    },
    fork: (child) => createRng(key, child),
  };
  return rng;
}

/** 32-bit hash of a string: FNV-1a over UTF-16 units with a final avalanche (the finaliser of MurmurHash3). */
function hash(text: string, basis: number): number {
  let h = basis | 0;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
