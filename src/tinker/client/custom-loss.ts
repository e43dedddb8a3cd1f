// Any loss of log-probabilities by means of cross-entropy: weights of -dLoss/dLogprob have exactly the wanted gradient.
// The rows of the two passes; the passes themselves are the training client's. Pure.

import { floatTensor, type ForwardBackwardOutput, type Tensor, type WireDatum } from '../wire/index.ts';
import { clientError } from './client-error.ts';

/** The user's loss of token log-probabilities: its value and its derivative by each of them. */
export type WireCustomLoss = (logprobs: readonly Float32Array[]) => CustomLossValue;

type CustomLossValue = {
  readonly loss: number;
  readonly gradients: readonly ArrayLike<number>[];
  readonly metrics?: Readonly<Record<string, number>>;
};

/** What a custom loss needs of a row: its targets, none of them weighted. */
export function targetsOnly(datum: WireDatum, row: number): WireDatum {
  const target = datum.lossInputs['target_tokens'] as Tensor | undefined;
  if (target === undefined) {
    throw clientError(`Row ${row} has no target_tokens, which a custom loss scores.`, { code: 'missing-loss-input' });
  }
  const weights = floatTensor(new Float32Array(target.values.length), target.shape);
  return { ...datum, lossInputs: { target_tokens: target, weights } };
}

/** The same row, weighted so that its cross-entropy has the gradient of the loss. */
export function weightedBy(gradient: ArrayLike<number> | undefined, datum: WireDatum, row: number): WireDatum {
  const target = datum.lossInputs['target_tokens'];
  if (gradient?.length !== target.values.length) {
    throw clientError(
      `The custom loss gave ${gradient?.length ?? 'no'} gradients for the ${target.values.length} log-probabilities of row ${row}; they must match.`,
      { code: 'custom-gradient-shape' },
    );
  }
  const weights = floatTensor(
    Float32Array.from(gradient, (value) => -value),
    target.shape,
  );
  return { ...datum, lossInputs: { target_tokens: target, weights } };
}

/** The user's loss under the name that losses have; that of the weighted pass is said to be a surrogate. */
export function customMetrics(
  { metrics }: ForwardBackwardOutput,
  custom: CustomLossValue,
): Readonly<Record<string, number>> {
  const { 'loss:sum': surrogateLoss, ...others } = metrics;
  return {
    ...others,
    ...custom.metrics,
    'loss:sum': custom.loss,
    ...(surrogateLoss === undefined ? {} : { 'surrogate_loss:sum': surrogateLoss }),
  };
}
