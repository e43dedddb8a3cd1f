// One token from a row of logits: temperature, top-k, top-p, and the log-probability under the plain softmax; and
// which tokens were the likeliest.

import type { TopToken } from '../core/index.ts';

export type Truncation = { readonly temperature: number; readonly topP: number; readonly topK: number };

/**
 * Draws by inverse transform from `uniform` in [0, 1). Temperature 0 takes the largest logit, the lowest id on a tie.
 * Top-k, then top-p (Holtzman et al. 2020) act on the tempered distribution; `logprob` (nats) ignores all three.
 */
export function chooseToken(
  logits: Float32Array,
  { temperature, topP, topK }: Truncation,
  uniform: number,
): { token: number; logprob: number } {
  const best = likeliestToken(logits);
  const top = logits[best];
  const weights = new Float64Array(logits.length);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += weights[i] = Math.exp(logits[i] - top);
  const logNormalizer = top + Math.log(sum);
  const pick = (token: number): { token: number; logprob: number } => ({
    token,
    logprob: logits[token] - logNormalizer,
  });
  if (temperature === 0) return pick(best);

  if (temperature !== 1) {
    for (let i = 0; i < logits.length; i++) weights[i] = Math.exp((logits[i] - top) / temperature);
  }
  const limited = topK > 0 && topK < weights.length;
  if (!limited && topP >= 1) return pick(drawIndex(weights, uniform));
  const order = Array.from(weights.keys()).sort((a, b) => weights[b] - weights[a] || a - b);
  let kept = limited ? order.slice(0, topK) : order;
  if (topP < 1) {
    const mass = kept.reduce((total, id) => total + weights[id], 0);
    let reached = 0;
    const size = kept.findIndex((id) => (reached += weights[id]) >= topP * mass);
    kept = kept.slice(0, size < 0 ? kept.length : size + 1);
  }
  return pick(
    kept[
      drawIndex(
        Float64Array.from(kept, (id) => weights[id]),
        uniform,
      )
    ],
  );
}

function drawIndex(weights: Float64Array | Float32Array, uniform: number): number {
  let total = 0;
  for (const weight of weights) total += weight;
  let left = uniform * total;
  let last = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    last = i;
    left -= weights[i];
    if (left < 0) return i;
  }
  // Rounding can leave a crumb; it belongs to the last token that has any mass.
  return last;
}

/** The most likely token, the lowest id on a tie. */
export function likeliestToken(logits: Float32Array): number {
  let best = 0;
  let top = logits[0];
  for (let i = 1; i < logits.length; i++) {
    if (logits[i] > top) {
      best = i;
      top = logits[i];
    }
  }
  return best;
}

/** The `count` most likely tokens under the plain softmax, most likely first, the lower id first on a tie. */
export function likeliestTokens(logits: Float32Array, count: number, logNormalizer = logSumExp(logits)): TopToken[] {
  // The best so far in order; most logits fail against the last of them at once.
  const best: number[] = [];
  for (let token = 0; token < logits.length; token++) {
    if (best.length === count && logits[token] <= logits[best[count - 1]]) continue;
    let at = best.length;
    while (at > 0 && logits[best[at - 1]] < logits[token]) at--;
    best.splice(at, 0, token);
    if (best.length > count) best.pop();
  }
  return best.map((token) => ({ token, logprob: logits[token] - logNormalizer }));
}

/** Draws from probabilities by inverse transform. */
export function drawProbability(probabilities: Float32Array, uniform: number): number {
  return drawIndex(probabilities, uniform);
}

function logSumExp(logits: Float32Array): number {
  let top = -Infinity;
  for (const logit of logits) if (logit > top) top = logit;
  let sum = 0;
  for (const logit of logits) sum += Math.exp(logit - top);
  return top + Math.log(sum);
}
