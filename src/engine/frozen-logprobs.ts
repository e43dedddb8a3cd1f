// Log-probabilities under a frozen output matrix, differentiable by what it is applied to: the way back multiplies
// probabilities by the matrix and takes the targets' rows off, so that no gradient of the logits, which have the size of
// the vocabulary, is made. Letters: N rows, C channels, V vocabulary.

import type { Graph, Shape, Value } from './graph.ts';
import { pickLogprobs } from './ops.ts';

const float = (shape: Shape): Omit<Value, 'name'> => ({ type: 'float32', shape });

/** log softmax(x[N, C] w[V, C]^T) at targets[N]: [N]. */
export function frozenLogprobs(g: Graph, x: Value, w: Value, targets: Value): Value {
  const count = x.shape[0];
  const logits = g.node1('Gemm', [x, w], float([count, w.shape[0]]), { attributes: { transB: 1 } });
  const { y } = pickLogprobs(g, logits, targets);
  g.record({
    inputs: [x],
    outputs: [y],
    // dx = dy (w[target] - sum over v of p_v w_v)
    backward: ([dy]) => {
      const probabilities = g.node1('Softmax', [logits], float(logits.shape), { attributes: { axis: -1 } });
      const expected = g.node1('Gemm', [probabilities, w], float(x.shape));
      const own = g.node1('Gather', [w, targets], float(x.shape), { attributes: { axis: 0 } });
      const difference = g.node1('Sub', [own, expected], float(x.shape));
      const slope = g.node1('Unsqueeze', [dy, g.constant('int64', [1], [1])], float([count, 1]));
      return [g.node1('Mul', [difference, slope], float(x.shape))];
    },
  });
  return y;
}
