// The numbers by which an agent names controls: small integers from 1, given at first sight, the same for the whole
// episode. Never reused, so that an old number can be recognised as stale instead of hitting a look-alike.

export interface References {
  /** The number of a node, giving it one if it has none. */
  of(backendNodeId: number): number;
  /** True if the number was ever given. */
  knows(reference: number): boolean;
}

export function createReferences(): References {
  const numbers = new Map<number, number>(); // backend node id -> reference
  return {
    of(backendNodeId) {
      const known = numbers.get(backendNodeId);
      if (known !== undefined) return known;
      numbers.set(backendNodeId, numbers.size + 1);
      return numbers.size;
    },
    knows: (reference) => Number.isInteger(reference) && reference >= 1 && reference <= numbers.size,
  };
}
