// Log-probabilities under a frozen output matrix, differentiable by what it is applied to: the way back multiplies
// probabilities by the matrix and takes the targets' rows off, so that no gradient of the logits, which have the size of
// the vocabulary, is made. Letters: N rows, C channels, V vocabulary.

import type { Dim, Graph, Shape, Value } from './graph.ts';

const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });

/** log softmax(x[N, C] w[V, C]^T) at targets[N]: [N]. */
export function frozenLogprobs(g: Graph, x: Value, w: Value, targets: Value): Value {
  const [count, vocabulary] = [x.shape[0], w.shape[0]] as [Dim, number];
  const axis = g.constant('int64', [1], [1]);
  const logits = g.node1('Gemm', [x, w], float([count, vocabulary]), { attributes: { transB: 1 } });
  const logSoftmax = g.node1('LogSoftmax', [logits], float(logits.shape), { attributes: { axis: -1 } });
  const column = g.node1('Unsqueeze', [targets, axis], { type: 'int64', shape: [count, 1] });
  const picked = g.node1('GatherElements', [logSoftmax, column], float([count, 1]), { attributes: { axis: 1 } });
  const y = g.node1('Squeeze', [picked, axis], float([count]));
  g.record({
    inputs: [x],
    outputs: [y],
    // dx = dy (w[target] - sum over v of p_v w_v)
    backward: ([dy]) => {
      const probabilities = g.node1('Softmax', [logits], float(logits.shape), { attributes: { axis: -1 } });
      const expected = g.node1('Gemm', [probabilities, w], float(x.shape));
      const own = g.node1('Gather', [w, targets], float(x.shape), { attributes: { axis: 0 } });
      const difference = g.node1('Sub', [own, expected], float(x.shape));
      return [g.node1('Mul', [difference, g.node1('Unsqueeze', [dy, axis], float([count, 1]))], float(x.shape))];
    },
  });
  return y;
}
