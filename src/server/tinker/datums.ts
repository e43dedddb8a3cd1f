// Training rows as clients send them, made into rows of the trainer. What does not fit is named by row, field and
// expected size; nothing that was sent is left out in silence.

import type { AdamParams, Datum, LossConfig, LossInputs, LossName } from '../../core/index.ts';
import { denseValues, type ModelInput, type Tensor, type WireDatum } from '../../tinker/index.ts';
import { userFault } from './refusals.ts';

type Settings = Readonly<Record<string, keyof LossConfig>>;
const CLIP: Settings = { clip_low_threshold: 'clipLow', clip_high_threshold: 'clipHigh' };

/** What each loss reads of a row, and its settings, in the protocol's words. */
const LOSSES: Readonly<Record<LossName, { readonly inputs: readonly string[]; readonly settings: Settings }>> = {
  cross_entropy: { inputs: ['weights'], settings: {} },
  importance_sampling: { inputs: ['logprobs', 'advantages'], settings: {} },
  ppo: { inputs: ['logprobs', 'advantages'], settings: CLIP },
  cispo: { inputs: ['logprobs', 'advantages'], settings: CLIP },
  dro: { inputs: ['logprobs', 'advantages'], settings: { beta: 'beta' } },
  gspo: { inputs: ['logprobs', 'advantages', 'sequence_ratio_mask'], settings: CLIP },
};

const FIELDS: Readonly<Record<string, keyof LossInputs>> = {
  target_tokens: 'targetTokens',
  weights: 'weights',
  logprobs: 'logprobs',
  advantages: 'advantages',
  sequence_ratio_mask: 'sequenceRatioMask',
};

export function lossName(text: string): LossName {
  if (Object.hasOwn(LOSSES, text)) return text as LossName;
  throw userFault(
    `loss_fn ${JSON.stringify(text)} is not served here; served are ${Object.keys(LOSSES).join(', ')}. Other losses of log-probabilities can be computed by the client (forward_backward_custom).`,
  );
}

export function lossConfig(loss: LossName, given: Readonly<Record<string, number | string>>): LossConfig {
  const { settings } = LOSSES[loss];
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => {
      if (!Object.hasOwn(settings, key)) {
        const known = Object.keys(settings).join(', ') || 'none';
        throw userFault(`loss_fn_config.${key}: the loss ${loss} has no such setting; it has: ${known}.`);
      }
      if (typeof value !== 'number' || !Number.isFinite(value)) {
        throw userFault(`loss_fn_config.${key} must be a finite number, not ${JSON.stringify(value)}.`);
      }
      return [settings[key], value];
    }),
  );
}

export type ReadData = {
  readonly data: readonly Datum[];
  /** Of the log-probabilities of each row: [N], or [N, K]. */
  readonly shapes: readonly (readonly number[])[];
};

export type Limits = {
  readonly vocabSize: number;
  readonly contextLength: number;
  /** What the model is called in refusals. */
  readonly modelName: string;
};

export function readData(wire: readonly WireDatum[], loss: LossName, limits: Limits): ReadData {
  if (wire.length === 0) throw userFault('data is empty; send at least one datum.');
  const read = wire.map((datum, i) => readDatum(datum, `datum ${i}`, loss, limits));
  return { data: read.map(({ datum }) => datum), shapes: read.map(({ shape }) => shape) };
}

/** Ids of a prompt or of a row, its chunks one after another. */
export function tokensOf(input: ModelInput, where: string, limits: Limits): number[] {
  const { vocabSize, contextLength, modelName } = limits;
  const tokens: number[] = [];
  input.forEach((chunk, i) => {
    if (chunk.kind !== 'text') {
      throw userFault(`${where}: chunk ${i} is of type ${chunk.kind}; ${modelName} reads encoded_text only.`);
    }
    for (const token of chunk.tokens) tokens.push(token);
  });
  if (tokens.length === 0) throw userFault(`${where}: it has no tokens; at least one is needed.`);
  const at = tokens.findIndex((token) => token < 0 || token >= vocabSize);
  if (at >= 0) throw userFault(`${where}: token ${tokens[at]} at ${at} is outside the vocabulary of ${vocabSize}.`);
  if (tokens.length > contextLength) {
    throw userFault(
      `${where}: ${tokens.length} tokens exceed the model's context window of ${contextLength}; shorten it.`,
    );
  }
  return tokens;
}

function readDatum(
  { modelInput, lossInputs }: WireDatum,
  where: string,
  loss: LossName,
  limits: Limits,
): { datum: Datum; shape: readonly number[] } {
  const tokens = tokensOf(modelInput, `${where}: model_input`, limits);
  const wanted = ['target_tokens', ...LOSSES[loss].inputs];
  for (const name of Object.keys(lossInputs)) {
    if (wanted.includes(name)) continue;
    const hint = name in CLIP ? '; thresholds of single tokens are not, put one into loss_fn_config' : '';
    throw userFault(
      `${where}: loss_fn_inputs.${name} is no input of ${loss}, which takes ${wanted.join(', ')}${hint}.`,
    );
  }
  const targets = lossInputs['target_tokens'];
  if (targets === undefined) throw userFault(`${where}: loss_fn_inputs.target_tokens is missing.`);
  const shape = targetShape(targets, tokens.length, where, loss);
  const inputs = wanted.map((name) => {
    const tensor = lossInputs[name];
    if (tensor === undefined) throw userFault(`${where}: loss_fn_inputs.${name} is missing; ${loss} needs it.`);
    checkShape(tensor, shape, `${where}: loss_fn_inputs.${name}`);
    const values = denseValues(tensor);
    const at = values.findIndex((value) => !Number.isFinite(value));
    if (at >= 0) throw userFault(`${where}: loss_fn_inputs.${name} holds ${values[at]} at ${at}; it must be finite.`);
    return [FIELDS[name], Array.from(values)] as const;
  });
  const known = Object.fromEntries(inputs) as unknown as LossInputs;
  const bad = known.targetTokens.findIndex((id) => !(Number.isInteger(id) && id >= 0 && id < limits.vocabSize));
  if (bad >= 0) {
    const message = `${known.targetTokens[bad]} at ${bad} is no token of the vocabulary of ${limits.vocabSize}`;
    throw userFault(`${where}: loss_fn_inputs.target_tokens: ${message}.`);
  }
  return { datum: { tokens, lossInputs: known }, shape };
}

/** [N], or [N, K] for the loss that takes several targets a position. */
function targetShape({ shape }: Tensor, length: number, where: string, loss: LossName): readonly number[] {
  const fits = shape[0] === length && (shape.length === 1 || (shape.length === 2 && shape[1] >= 1));
  if (!fits) {
    const expected = loss === 'cross_entropy' ? `[${length}] or [${length}, K]` : `[${length}]`;
    const text = `has shape [${shape.join(', ')}]; model_input has ${length} tokens, so ${expected} is expected`;
    throw userFault(`${where}: loss_fn_inputs.target_tokens ${text}.`);
  }
  if (shape.length === 2 && loss !== 'cross_entropy') {
    throw userFault(`${where}: loss_fn_inputs.target_tokens has two dimensions; only cross_entropy takes several.`);
  }
  return shape;
}

function checkShape({ shape }: Tensor, expected: readonly number[], where: string): void {
  if (shape.length === expected.length && shape.every((side, i) => side === expected[i])) return;
  throw userFault(`${where} has shape [${shape.join(', ')}], expected [${expected.join(', ')}] as target_tokens has.`);
}

/** Names are `name:reduction` with one colon, or clients fail. */
export function wireMetrics(metrics: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics).map(([key, value]) => {
      const parts = key.split(':');
      if (parts.length === 2) return [key, value];
      return [parts.length === 1 ? `${key}:mean` : `${parts.slice(0, -1).join('/')}:${parts.at(-1)!}`, value];
    }),
  );
}

export type WireAdam = {
  readonly learning_rate?: number | undefined;
  readonly beta1?: number | undefined;
  readonly beta2?: number | undefined;
  readonly eps?: number | undefined;
  readonly weight_decay?: number | undefined;
  readonly grad_clip_norm?: number | undefined;
};

/** Defaults of the protocol, which are AdamW's but for the last two betas and eps. */
export function adamParams(given: WireAdam): AdamParams {
  const params = {
    learningRate: given.learning_rate ?? 1e-4,
    beta1: given.beta1 ?? 0.9,
    beta2: given.beta2 ?? 0.95,
    eps: given.eps ?? 1e-12,
    weightDecay: given.weight_decay ?? 0,
    gradClipNorm: given.grad_clip_norm ?? 0,
  };
  for (const [name, value] of Object.entries(params)) {
    if (!(Number.isFinite(value) && value >= 0)) {
      throw userFault(`adam_params: ${name} is ${value}; it must be a number that is not negative.`);
    }
  }
  return params;
}
