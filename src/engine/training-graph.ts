// The graph of one training micro-batch: tokens and loss inputs in; log-probabilities of the scored targets, the
// summed loss and, when asked for, the accumulated gradient of every trainable weight out.

import type { LossName } from '../core/index.ts';
import { gradients } from './autodiff.ts';
import { sequenceEmbeddings } from './embeddings.ts';
import { Graph, type Value } from './graph.ts';
import { LOSS_SCALARS, LOSS_VECTORS, LOSSES_BY_ROW, tokenLoss } from './losses.ts';
import type { ModelConfig } from './model-config.ts';
import { reshape, targetLogprobs } from './ops.ts';
import {
  causalAttention,
  maskInputs,
  outputLogits,
  residualStream,
  type GraphLora,
  type TransformerInputs,
} from './transformer.ts';
import type { WeightSpec } from './weights.ts';

export type TrainingGraphOptions = {
  readonly config: ModelConfig;
  readonly base: readonly WeightSpec[];
  readonly adapters: readonly WeightSpec[];
  readonly lora?: GraphLora;
  readonly loss: LossName;
  /** Weights to differentiate by; none for a forward pass alone. */
  readonly trainable: readonly WeightSpec[];
};

/**
 * Outputs: `logprobs` [N], `loss` [1], and for each trainable weight `gradient.<name>`, which is `earlier.<name>` plus
 * the gradient of this micro-batch.
 */
export function trainingGraph(options: TrainingGraphOptions): Graph {
  const { config, base, adapters, lora, loss, trainable } = options;
  const g = new Graph();
  const weights = new Map<string, Value>();
  for (const spec of [...base, ...adapters]) weights.set(spec.name, g.input(spec.name, 'float32', spec.shape));
  const weight = (name: string): Value => weights.get(name)!;

  const mask = maskInputs(g, config);
  const ids = g.input('ids', 'int64', ['M']);
  const sizes = { batch: 'B', time: 'T' } as const;
  const embeddings = sequenceEmbeddings(g, { config, weight }, ids, sizes);
  const inputs: TransformerInputs = { embeddings, positions: g.constant('int64', [1], [0]), ...sizes };
  const index = g.input('index', 'int64', ['N']);
  const targets = g.input('targets', 'int64', ['N']);

  const attend = causalAttention(g, config, inputs, mask);
  const stream = residualStream(g, { config, weight, inputs, attend, index, ...(lora ? { lora } : {}) });
  const logits = outputLogits(g, stream, { config, weight, ...(lora ? { lora } : {}) });
  const logprobs = targetLogprobs(g, logits, targets);
  const lossInputs: Record<string, Value> = {};
  for (const name of LOSS_VECTORS[loss]) lossInputs[name] = g.input(`loss.${name}`, 'float32', ['N']);
  for (const name of Object.keys(LOSS_SCALARS[loss])) lossInputs[name] = g.input(`loss.${name}`, 'float32', []);
  if (LOSSES_BY_ROW.has(loss)) lossInputs['rowOf'] = g.input('loss.rowOf', 'float32', ['R', 'N']);
  const perToken = tokenLoss(g, loss, logprobs, lossInputs);

  g.output('logprobs', logprobs);
  g.output('loss', total(g, perToken));
  if (trainable.length > 0) {
    const wanted = trainable.map((spec) => weight(spec.name));
    const earlier = trainable.map(({ name, shape }) => g.input(`earlier.${name}`, 'float32', shape));
    gradients(g, perToken, wanted, earlier).forEach((gradient, i) =>
      g.output(`gradient.${trainable[i].name}`, gradient),
    );
  }
  return g;
}

/** Sum of a vector or of a column, [1]. */
function total(g: Graph, value: Value): Value {
  const flat = value.shape.length === 1 ? value : reshape(g, value, [value.shape[0]]);
  return g.node1('ReduceSum', [flat], { type: 'float32', shape: [1] }, { attributes: { keepdims: 1 } });
}
