// Quantiles of Student's t distribution with a whole number of degrees of freedom: with three training seeds the
// normal quantile (1.96) would be less than half of the right one (4.30).
// Source: Abramowitz & Stegun 26.7.3 and 26.7.4 (finite sums for whole degrees of freedom), inverted by bisection.

/** t with P(T <= t) = p. */
export function studentTQuantile(p: number, degreesOfFreedom: number): number {
  if (!(p > 0 && p < 1)) throw new RangeError(`a t quantile needs 0 < p < 1, got ${p}`);
  if (!(Number.isInteger(degreesOfFreedom) && degreesOfFreedom >= 1)) {
    throw new RangeError(`degrees of freedom must be a positive integer, got ${degreesOfFreedom}`);
  }
  if (p < 0.5) return -studentTQuantile(1 - p, degreesOfFreedom);
  const inside = 2 * p - 1;
  // Bisection on the angle, in which the distribution is bounded: t = sqrt(df) tan(angle).
  let [low, high] = [0, Math.PI / 2];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (centralProbability(middle, degreesOfFreedom) < inside) low = middle;
    else high = middle;
  }
  return Math.sqrt(degreesOfFreedom) * Math.tan((low + high) / 2);
}

/** P(|T| <= sqrt(df) tan(angle)). */
function centralProbability(angle: number, df: number): number {
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  const odd = df % 2 === 1;
  let term = odd ? cos : 1;
  let sum = df === 1 ? 0 : term;
  for (let k = odd ? 3 : 2; k <= df - 2; k += 2) {
    term *= (cos * cos * (k - 1)) / k;
    sum += term;
  }
  return odd ? (2 / Math.PI) * (angle + sin * sum) : sin * sum;
}
