// An interval and the check of the level it is asked for. No method of its own.

/** Lower and upper end, in the units of what is estimated. */
export type Interval = readonly [low: number, high: number];

/** Refuses an error rate outside (0, 1). `alpha` 0.05 asks for 95 % intervals. */
export function checkAlpha(alpha: number): void {
  if (!(alpha > 0 && alpha < 1)) throw new RangeError(`alpha must lie in (0, 1), got ${alpha}`);
}

/** Refuses an empty sample or one with values that are not numbers. */
export function checkSample(values: readonly number[]): void {
  if (values.length === 0) throw new RangeError('the sample is empty: there is nothing to estimate');
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new RangeError(`value ${bad} of the sample is ${values[bad]}, not a number`);
}
