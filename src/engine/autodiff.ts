// Reverse-mode differentiation over a graph's tape: appends the nodes of the backward pass to the same graph.
// Only what lies between the wanted inputs and the output is visited, so frozen weights cost nothing.

import { sameShape, type Graph, type Value } from './graph.ts';

/**
 * Gradients of `output` (summed over its elements) by each of `wrt`, on top of `earlier[i]` where that is given. Values
 * that it does not depend on give an error.
 */
export function gradients(graph: Graph, output: Value, wrt: readonly Value[], earlier: readonly Value[] = []): Value[] {
  const ones = (): Value => {
    const seed = graph.node1('ConstantOfShape', [shapeOf(graph, output)], { type: 'float32', shape: output.shape });
    return graph.node1('Add', [seed, graph.scalar(1)], { type: 'float32', shape: output.shape });
  };
  return backward(graph, { output, slope: ones, wrt, earlier });
}

/** Gradients by each of `wrt` of something of which `slope` is the gradient by `output`. */
export function gradientsFrom(graph: Graph, output: Value, slope: Value, wrt: readonly Value[]): Value[] {
  return backward(graph, { output, slope: () => slope, wrt, earlier: [] });
}

type Backward = {
  readonly output: Value;
  readonly slope: () => Value;
  readonly wrt: readonly Value[];
  readonly earlier: readonly Value[];
};

function backward(graph: Graph, { output, slope, wrt, earlier }: Backward): Value[] {
  const active = new Set(wrt.map((value) => value.name));
  for (const entry of graph.tape) {
    if (entry.inputs.some((input) => active.has(input.name))) entry.outputs.forEach((value) => active.add(value.name));
  }
  if (!active.has(output.name))
    throw new Error(`internal: ${output.name} does not depend on any of the ${wrt.length} values asked for`);

  const partial = new Map<string, Value>([[output.name, slope()]]);
  // Two at a time, because the runtime merges a sum of two into the product that one of them is.
  const accumulate = (value: Value, gradient: Value): void => {
    const sofar = partial.get(value.name);
    partial.set(
      value.name,
      sofar ? graph.node1('Sum', [sofar, gradient], { type: 'float32', shape: value.shape }) : gradient,
    );
  };

  wrt.forEach((value, i) => earlier[i] && accumulate(value, earlier[i]));

  // The backward pass appends nothing to the tape, so walking a copy is not needed; the length is still fixed first.
  for (let i = graph.tape.length - 1; i >= 0; i--) {
    const entry = graph.tape[i];
    const needs = entry.inputs.map((input) => active.has(input.name));
    if (!needs.includes(true)) continue;
    const incoming = entry.outputs.map((value) => partial.get(value.name));
    if (incoming.every((gradient) => gradient === undefined)) continue;
    entry.backward(incoming, needs).forEach((gradient, index) => {
      const input = entry.inputs[index];
      if (!gradient || !needs[index]) return;
      if (!sameShape(gradient.shape, input.shape)) {
        throw new Error(
          `internal: gradient of ${input.name} has shape [${gradient.shape.join()}], not [${input.shape.join()}]`,
        );
      }
      accumulate(input, gradient);
    });
  }
  return wrt.map((value) => {
    const gradient = partial.get(value.name);
    if (!gradient) throw new Error(`internal: ${output.name} does not depend on ${value.name}`);
    return gradient;
  });
}

function shapeOf(graph: Graph, value: Value): Value {
  return graph.node1('Shape', [value], { type: 'int64', shape: [value.shape.length] });
}
