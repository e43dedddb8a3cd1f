// Statistics for claims about success rates: intervals, paired tests, power. Pure functions of numbers; what is not
// a legal argument is a RangeError.

export {
  clusterBootstrap,
  clusterStandardError,
  type ClusterBootstrapOptions,
  type ClusterBootstrapResult,
} from './cluster-bootstrap.ts';
export type { Interval } from './interval.ts';
export { mcNemar, type McNemarResult } from './mcnemar.ts';
export { meanInterval, type MeanInterval } from './mean-interval.ts';
export { normalQuantile } from './normal.ts';
export { pairedBootstrap, type PairedBootstrapOptions, type PairedBootstrapResult } from './paired-bootstrap.ts';
export {
  hoeffdingHalfWidth,
  pairedHoeffding,
  type Contrast,
  type ContrastInterval,
  type HalfWidthOptions,
} from './paired-hoeffding.ts';
export { passAtK } from './pass-at-k.ts';
export { minimumDetectableDifference, type MinimumDetectableOptions } from './power.ts';
export { quantile } from './quantile.ts';
export { signFlipTest, type SignFlipOptions } from './sign-flip.ts';
export { studentTQuantile } from './student-t.ts';
export { wilsonInterval } from './wilson.ts';
