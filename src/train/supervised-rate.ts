// The learning rate that tinker-cookbook's rule gives for supervised fine-tuning with adapters, by a model's family and
// width. For imitation only: such rates ruin a policy gradient.
// Source: tinker-cookbook's `get_lr`: 5e-5 x 10 x (2000 / hidden size)^p with p of the family.

import { TabwrightError } from '../core/index.ts';

const BASE = 5e-5;
/** Adapters take rates ten times those of whole weights. */
const ADAPTER_FACTOR = 10;
const REFERENCE_WIDTH = 2000;
/** Fitted for these families only; a model of another one may want quite another rate. */
const EXPONENTS: readonly (readonly [family: RegExp, exponent: number])[] = [
  [/^qwen/, 0.0775],
  [/^llama/, 0.781],
];

export type RatedModel = {
  /** For messages. */
  readonly name: string;
  /** E.g. `qwen3` or `llama`; undefined where nothing is known. */
  readonly family: string | undefined;
  readonly hiddenSize: number | undefined;
  /** Whether adapters are trained, and not every weight. */
  readonly adapters: boolean;
};

export function supervisedRate({ name, family, hiddenSize, adapters }: RatedModel): number {
  if (!adapters) {
    throw refusal(name, 'it is for adapters, and here every weight is trained (--lora-rank trains adapters)');
  }
  if (hiddenSize === undefined) throw refusal(name, 'its width is not known');
  const exponent = EXPONENTS.find(([pattern]) => family !== undefined && pattern.test(family))?.[1];
  if (exponent === undefined) {
    throw refusal(name, `it knows Qwen and Llama models only, and this one is of ${family ?? 'no known family'}`);
  }
  return BASE * ADAPTER_FACTOR * (REFERENCE_WIDTH / hiddenSize) ** exponent;
}

function refusal(name: string, why: string): TabwrightError {
  return new TabwrightError('config', `--learning-rate auto has no rate for ${name}: ${why}. Give a number.`, {
    code: 'no-supervised-rate',
    details: { name },
  });
}
