// A trainer whose every call has a deadline, whatever computes it: what hangs ends the run with a word instead of never.
// A call that was given up may still be carried out; so the run stops, and goes on from its last checkpoint.

import {
  TabwrightError,
  type CallOptions,
  type CustomLoss,
  type Datum,
  type LossConfig,
  type LossName,
  type Sampler,
  type Trainer,
} from '../core/index.ts';
import { withDeadline } from '../util/index.ts';

/** Of one call to a trainer or of one score of the reference. */
export const DEFAULT_CALL_MS = 1_800_000;

export type CallDeadline = {
  /** Names the loop in messages. */
  readonly stage: string;
  readonly ms: number;
};

/** Does one call under a deadline; `what` names it as Tinker does. */
export function withCallDeadline<T>(
  { stage, ms }: CallDeadline,
  { what, signal }: { readonly what: string; readonly signal?: AbortSignal | undefined },
  work: (options: CallOptions) => Promise<T>,
): Promise<T> {
  const onExpiry = (): Error =>
    new TabwrightError(
      'backend',
      `${what} of ${stage} was not done after ${ms / 1000} s: look whether the model's server is alive, or allow more ` +
        '(--trainer-deadline-seconds).',
      { code: 'trainer-deadline', details: { what, stage, ms } },
    );
  return withDeadline({ ms, onExpiry, ...(signal === undefined ? {} : { signal }) }, (within) =>
    work({ signal: within }),
  );
}

/** Disposing of it is disposing of `trainer`. */
export function trainerWithDeadlines(trainer: Trainer, deadline: CallDeadline): Trainer {
  const call = <T>(
    what: string,
    options: CallOptions | undefined,
    work: (within: CallOptions) => Promise<T>,
  ): Promise<T> => withCallDeadline(deadline, { what, signal: options?.signal }, work);
  return {
    get step() {
      return trainer.step;
    },
    forward: (data: readonly Datum[], loss: LossName, config?: LossConfig, options?: CallOptions) =>
      call('forward', options, (within) => trainer.forward(data, loss, config, within)),
    forwardBackward: (data: readonly Datum[], loss: LossName, config?: LossConfig, options?: CallOptions) =>
      call('forward_backward', options, (within) => trainer.forwardBackward(data, loss, config, within)),
    forwardBackwardCustom: (data: readonly Datum[], loss: CustomLoss, options?: CallOptions) =>
      call('forward_backward', options, (within) => trainer.forwardBackwardCustom(data, loss, within)),
    optimStep: (params, options) => call('optim_step', options, (within) => trainer.optimStep(params, within)),
    saveState: (path, options) => call('save_state', options, (within) => trainer.saveState(path, within)),
    loadState: (path, options) => call('load_state', options, (within) => trainer.loadState(path, within)),
    removeState: (path, options) => call('delete_checkpoint', options, (within) => trainer.removeState(path, within)),
    saveWeightsForSampler: (path, options) =>
      call('save_weights_for_sampler', options, (within) => trainer.saveWeightsForSampler(path, within)),
    saveWeightsAndGetSampler: (options): Promise<Sampler> =>
      call('save_weights_for_sampler', options, (within) => trainer.saveWeightsAndGetSampler(within)),
    [Symbol.asyncDispose]: () => trainer[Symbol.asyncDispose](),
  };
}
