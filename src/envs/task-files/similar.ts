// Which instructions ask for nearly the same. The measure: instructions in small letters, every number one sign, every
// quoted text another, as the set of their words and of their pairs of neighbouring words; two are near when the sets
// share at least half of all they hold together (Jaccard index 0.5). Tasks are near through a third one, too.

const NEAR = 0.5;

/** Group of each text, as the position of its first member. */
export function nearGroups(texts: readonly string[]): readonly number[] {
  const sets = texts.map(shingles);
  const groups = createGroups(texts.length);
  const holders = new Map<string, number[]>();
  for (const [i, set] of sets.entries()) {
    const shared = new Map<number, number>();
    for (const shingle of set) {
      const before = holders.get(shingle);
      if (before === undefined) holders.set(shingle, [i]);
      else {
        for (const j of before) shared.set(j, (shared.get(j) ?? 0) + 1);
        before.push(i);
      }
    }
    for (const [j, count] of shared) {
      if (count >= NEAR * (set.size + sets[j].size - count)) groups.join(i, j);
    }
  }
  return texts.map((_, i) => groups.find(i));
}

export function similarity(a: string, b: string): number {
  const [one, other] = [shingles(a), shingles(b)];
  const shared = [...one].filter((shingle) => other.has(shingle)).length;
  return shared / (one.size + other.size - shared);
}

export type Groups = { join(a: number, b: number): void; find(a: number): number };

/** Sets that are joined; each is named by its smallest member. */
export function createGroups(size: number): Groups {
  const parent = Array.from({ length: size }, (_, i) => i);
  const find = (a: number): number => {
    let root = a;
    while (parent[root] !== root) root = parent[root];
    for (let at = a; parent[at] !== root;) [at, parent[at]] = [parent[at], root];
    return root;
  };
  return {
    find,
    join(a, b) {
      const [one, other] = [find(a), find(b)];
      parent[Math.max(one, other)] = Math.min(one, other);
    },
  };
}

function shingles(text: string): ReadonlySet<string> {
  const words = text
    .toLowerCase()
    .replaceAll(/"[^"]*"|“[^”]*”|(?<!\w)'[^']*'(?!\w)/gu, ' 〈text〉 ')
    .replaceAll(/\d[\d.,:/-]*/gu, ' 〈number〉 ')
    .split(/[^\p{L}\p{N}〈〉]+/u)
    .filter((word) => word !== '');
  const marked = ['〈start〉', ...words, '〈end〉'];
  return new Set([...words, ...marked.slice(1).map((word, i) => `${marked[i]} ${word}`)]);
}
