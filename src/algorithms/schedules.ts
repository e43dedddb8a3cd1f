// Learning rate as a function of the step: a short warm-up, then a shape. Pure, so that a resumed run needs
// nothing but its step number.

export type Schedule = {
  readonly shape: 'constant' | 'linear' | 'cosine';
  /** Rate at the end of the warm-up. */
  readonly peak: number;
  /** Steps that climb to the peak. Default 0. */
  readonly warmupSteps?: number;
  /** Steps of the whole run; the floor is reached after the last of them. */
  readonly totalSteps: number;
  /** Fraction of the peak at the end; not used by `constant`. Default 0. */
  readonly floor?: number;
};

/** Rate of step `step`, 0-based. The first step of a warm-up of n takes 1/n of the peak, never 0. */
export function learningRateAt(schedule: Schedule, step: number): number {
  const { shape, peak, warmupSteps = 0, totalSteps, floor = 0 } = schedule;
  if (step < warmupSteps) return (peak * (step + 1)) / warmupSteps;
  const progress = Math.min(1, (step - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
  switch (shape) {
    case 'constant':
      return peak;
    case 'linear':
      return peak * (1 - (1 - floor) * progress);
    case 'cosine':
      return peak * (floor + ((1 - floor) * (1 + Math.cos(Math.PI * progress))) / 2);
  }
  return shape satisfies never;
}
