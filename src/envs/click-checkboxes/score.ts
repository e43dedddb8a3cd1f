// What the boxes are worth. Pure. Exact success and the reward with partial credit are two different things, and
// only the first is a success.

export type Score = {
  /** Every box as wanted. */
  readonly exact: boolean;
  /** Mean over the boxes of +1 (right) and -1 (wrong), in [-1, 1]; MiniWoB++'s raw reward. */
  readonly reward: number;
  readonly boxes: number;
  readonly wanted: number;
  /** missing + extra. */
  readonly wrong: number;
  /** Wanted but not checked. */
  readonly missing: number;
  /** Checked but not wanted. */
  readonly extra: number;
};

/** Both arrays are per box, in page order. */
export function scoreBoxes(wanted: readonly boolean[], checked: readonly boolean[]): Score {
  if (wanted.length !== checked.length) {
    throw new RangeError(`one state per box is needed: ${wanted.length} boxes, ${checked.length} states`);
  }
  const missing = wanted.filter((want, box) => want && !checked[box]).length;
  const extra = checked.filter((check, box) => check && !wanted[box]).length;
  const boxes = wanted.length;
  const wrong = missing + extra;
  return {
    exact: wrong === 0,
    reward: (boxes - 2 * wrong) / boxes,
    boxes,
    wanted: wanted.filter(Boolean).length,
    wrong,
    missing,
    extra,
  };
}
