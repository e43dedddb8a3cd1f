// Which token comes next, drawn in the graph where the distributions are: handing those of a batch out costs more than the
// rest of a step around its products. By inverse transform in two steps, first over blocks of the vocabulary.
// Letters: B sequences, V vocabulary, N blocks of W tokens.

import type { Graph, Shape, Value } from './graph.ts';
import { MASKED } from './packing.ts';

/** W: long enough that there are few blocks, short enough that reading one is nothing. */
const WIDTH = 128;
/** What is left out of a mass at its end: a place that rounds to all of it would lie behind the last token. */
const REST = 2 ** -40;

/** Columns of the output `draws`. */
export const DRAWS = { drawn: 0, drawnLogprob: 1, likeliest: 2, likeliestLogprob: 3, columns: 4 } as const;

/**
 * From logits [B, V] and the input `uniform` [B, 1] to the outputs `logprobs` [B, V] and `draws` [B, 4]: a token drawn from
 * the plain softmax, the likeliest one (the lowest id on a tie), and the log-probability of each.
 */
export function drawingNodes(g: Graph, logits: Value): void {
  const [batch, vocabulary] = logits.shape as [string, number];
  const blocks = Math.ceil(vocabulary / WIDTH);
  const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });
  const double = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float64', shape });
  const ids = { type: 'int64', shape: [batch, 1] } as const;
  const along = { attributes: { axis: 1 } };
  const kept = { attributes: { axis: 1, keepdims: 1 } };
  const axis = (at: number): Value => g.constant('int64', [1], [at]);
  const one = g.constant('int64', [], [1]);
  const width = g.constant('int64', [], [WIDTH]);

  const [logprobs] = g.node('LogSoftmax', [logits], [float([batch, vocabulary])], {
    attributes: { axis: -1 },
    names: ['logprobs'],
  });
  const fillers = g.constant('int64', [4], [0, 0, 0, blocks * WIDTH - vocabulary]);
  const whole =
    blocks * WIDTH === vocabulary
      ? logprobs
      : g.node1('Pad', [logprobs, fillers, g.scalar(MASKED)], float([batch, blocks * WIDTH]));
  const lines = g.node1(
    'Reshape',
    [whole, g.constant('int64', [3], [0, blocks, WIDTH])],
    float([batch, blocks, WIDTH]),
  );
  const line = (of: Value, block: Value): Value =>
    g.node1('GatherND', [of, block], float([batch, WIDTH]), { attributes: { batch_dims: 1 } });
  const token = (block: Value, at: Value): Value => g.node1('Add', [g.node1('Mul', [block, width], ids), at], ids);
  const logprobOf = (of: Value): Value => g.node1('GatherElements', [logprobs, of], float([batch, 1]), along);

  const tops = g.node1('ReduceMax', [lines, axis(2)], float([batch, blocks]), { attributes: { keepdims: 0 } });
  const best = g.node1('ArgMax', [tops], ids, kept);
  const likeliest = token(best, g.node1('ArgMax', [line(lines, best)], ids, kept));

  // Sums are in double precision, as the number that decides is.
  const exact = (x: Value): Value => g.node1('Cast', [x], double(x.shape), { attributes: { to: 11 } });
  const starts = (x: Value): Value =>
    g.node1('CumSum', [x, g.constant('int64', [], [1])], double(x.shape), { attributes: { exclusive: 1 } });
  const sum = (x: Value): Value =>
    g.node1('ReduceSum', [x, axis(1)], double([batch, 1]), { attributes: { keepdims: 1 } });
  const last = (from: Value, reached: Value): Value => {
    const before = g.node1('LessOrEqual', [from, reached], { type: 'bool', shape: from.shape });
    const numbers = g.node1('Cast', [before], { type: 'int64', shape: from.shape }, { attributes: { to: 7 } });
    const count = g.node1('ReduceSum', [numbers, axis(1)], ids, { attributes: { keepdims: 1 } });
    return g.node1('Sub', [count, one], ids);
  };
  const most = g.constant('float64', [], [1 - REST]);
  const masses = g.node1('Exp', [lines], float(lines.shape));
  const perBlock = exact(
    g.node1('ReduceSum', [masses, axis(2)], float([batch, blocks]), { attributes: { keepdims: 0 } }),
  );
  const uniform = g.node1('Min', [g.input('uniform', 'float64', [batch, 1]), most], double([batch, 1]));
  const wanted = g.node1('Mul', [uniform, sum(perBlock)], double([batch, 1]));
  const blockStarts = starts(perBlock);
  const block = last(blockStarts, wanted);
  const start = g.node1('GatherElements', [blockStarts, block], double([batch, 1]), along);
  const within = exact(line(masses, block));
  const left = g.node1('Sub', [wanted, start], double([batch, 1]));
  // Not times what is nearly one: the runtime takes that for one and leaves it out.
  const mass = sum(within);
  const rest = g.node1('Mul', [mass, g.constant('float64', [], [REST])], double([batch, 1]));
  const bound = g.node1('Sub', [mass, rest], double([batch, 1]));
  const drawn = token(block, last(starts(within), g.node1('Min', [left, bound], double([batch, 1]))));

  // Ids of a vocabulary are exact in single precision.
  const id = (x: Value): Value => g.node1('Cast', [x], float([batch, 1]), { attributes: { to: 1 } });
  const columns = [id(drawn), logprobOf(drawn), id(likeliest), logprobOf(likeliest)];
  g.node('Concat', columns, [float([batch, columns.length])], { ...along, names: ['draws'] });
}
