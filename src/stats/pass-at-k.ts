// pass@k: the probability that at least one of k attempts succeeds, estimated without bias from n >= k attempts.
// Source: Chen et al. (2021), arXiv 2107.03374, equation 1.

/** Estimate from `successes` among `n` attempts: 1 - C(n - successes, k) / C(n, k), as a product that cannot overflow. */
export function passAtK(n: number, successes: number, k: number): number {
  const whole = [n, successes, k].every(Number.isInteger);
  if (!(whole && k >= 1 && k <= n && successes >= 0 && successes <= n)) {
    throw new RangeError(
      `pass@k needs 1 <= k <= n and 0 <= successes <= n, got k ${k}, n ${n}, successes ${successes}`,
    );
  }
  if (n - successes < k) return 1;
  let noneSucceeds = 1;
  for (let i = n - successes + 1; i <= n; i++) noneSucceeds *= 1 - k / i;
  return 1 - noneSucceeds;
}
