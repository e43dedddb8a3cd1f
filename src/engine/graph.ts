// A typed builder of ONNX graphs: values with symbolic shapes, nodes, and a tape for reverse-mode
// differentiation. It knows no operator by meaning (that is `ops.ts`) and runs nothing (that is `session.ts`).

import { create, toBinary } from '@bufbuild/protobuf';
import {
  AttributeProto_AttributeType as AttributeType,
  AttributeProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation,
  TensorProto_DataType as DataType,
  TensorProtoSchema,
  ValueInfoProtoSchema,
  type AttributeProto,
  type NodeProto,
  type TensorProto,
  type ValueInfoProto,
} from 'onnx-buf';

export type ElementType = 'float32' | 'float64' | 'int64' | 'int32' | 'uint8' | 'bool';
/** A size known when the graph is built, or a named one known when it runs. */
export type Dim = number | string;
export type Shape = readonly Dim[];

/** The result of a node, an input or a constant. Identity is the name. */
export type Value = { readonly name: string; readonly type: ElementType; readonly shape: Shape };

export type Attributes = Readonly<Record<string, number | { float: number } | readonly number[] | string>>;

/** Inputs, outputs and the vector-Jacobian product of one differentiable step. */
export type TapeEntry = {
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
  /** Gradients by output (undefined: zero) to gradients by input; only inputs with `needs[i]` are asked for. */
  readonly backward: (
    gradients: readonly (Value | undefined)[],
    needs: readonly boolean[],
  ) => readonly (Value | undefined)[];
};

export type NodeOptions = {
  readonly attributes?: Attributes;
  /** Default the ONNX domain. */
  readonly domain?: 'com.microsoft';
  /** Outputs that have a name are outputs of the graph, without a copy. Default none. */
  readonly names?: readonly (string | undefined)[];
};

const ELEMENT_TYPES = {
  float32: DataType.FLOAT,
  float64: DataType.DOUBLE,
  int64: DataType.INT64,
  int32: DataType.INT32,
  uint8: DataType.UINT8,
  bool: DataType.BOOL,
} as const;
/** What the data of external constants is called between graph and session. */
export const EXTERNAL_DATA = 'weights';
const OPSET = 20n;
const IR_VERSION = 9n;

export class Graph {
  readonly tape: TapeEntry[] = [];
  readonly #inputs: ValueInfoProto[] = [];
  readonly #outputs: ValueInfoProto[] = [];
  readonly #nodes: NodeProto[] = [];
  readonly #initializers: TensorProto[] = [];
  readonly #constants = new Map<string, Value>();
  /** Where the runtime size of a symbol can be read: an input and its axis. */
  readonly #symbols = new Map<string, { readonly value: Value; readonly axis: number }>();
  /** Results of nodes that are no output yet. */
  readonly #results = new Set<string>();
  /** Outputs by the names that nodes know them by. */
  readonly #renamed = new Map<string, string>();
  #count = 0;

  input(name: string, type: ElementType, shape: Shape): Value {
    const value = { name, type, shape };
    this.#inputs.push(valueInfo(value));
    shape.forEach((dim, axis) => {
      if (typeof dim === 'string' && !this.#symbols.has(dim)) this.#symbols.set(dim, { value, axis });
    });
    return value;
  }

  /** What a node gives is handed out as it is, so that storage lent for it is written at once; anything else is copied. */
  output(name: string, value: Value): void {
    this.#outputs.push(valueInfo({ ...value, name }));
    if (this.#results.has(value.name)) {
      this.#results.delete(value.name);
      this.#renamed.set(value.name, name);
    } else {
      this.#nodes.push(create(NodeProtoSchema, { opType: 'Identity', input: [value.name], output: [name] }));
    }
  }

  /** A constant baked into the graph; equal constants are stored once. */
  constant(type: ElementType, shape: readonly number[], data: readonly number[]): Value {
    const key = `${type}[${shape.join()}]${data.join()}`;
    const known = this.#constants.get(key);
    if (known) return known;
    const value = { name: `c${this.#count++}`, type, shape };
    this.#initializers.push(tensor(value, shape, data));
    this.#constants.set(key, value);
    return value;
  }

  /** A larger table stored in the graph, e.g. rotary angles. */
  table(name: string, shape: readonly number[], data: Float32Array): Value {
    const rawData = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    this.#initializers.push(
      create(TensorProtoSchema, { name, dataType: DataType.FLOAT, dims: shape.map(BigInt), rawData: rawData.slice() }),
    );
    return { name, type: 'float32', shape };
  }

  /**
   * A constant that lies outside the graph, in the bytes given when it is compiled. The runtime rearranges such matrices
   * once, which makes products of few rows twice as fast.
   */
  external(
    type: ElementType,
    shape: readonly number[],
    { at, bytes }: { readonly at: number; readonly bytes: number },
  ): Value {
    const value = { name: `x${this.#count++}`, type, shape };
    const entry = (key: string, text: string) => create(StringStringEntryProtoSchema, { key, value: text });
    this.#initializers.push(
      create(TensorProtoSchema, {
        name: value.name,
        dataType: ELEMENT_TYPES[type],
        dims: shape.map(BigInt),
        dataLocation: TensorProto_DataLocation.EXTERNAL,
        externalData: [entry('location', EXTERNAL_DATA), entry('offset', String(at)), entry('length', String(bytes))],
      }),
    );
    return value;
  }

  scalar(data: number): Value {
    return this.constant('float32', [], [data]);
  }

  /** Appends a node; `results` gives type and shape of each output. */
  node(
    op: string,
    inputs: readonly (Value | undefined)[],
    results: readonly Omit<Value, 'name'>[],
    options: NodeOptions = {},
  ): Value[] {
    const outputs = results.map((result, i) => ({ ...result, name: options.names?.[i] ?? `${op}_${this.#count++}` }));
    options.names?.forEach((name, i) => name !== undefined && this.#outputs.push(valueInfo(outputs[i])));
    outputs.forEach(({ name }, i) => options.names?.[i] === undefined && this.#results.add(name));
    this.#nodes.push(
      create(NodeProtoSchema, {
        opType: op,
        domain: options.domain ?? '',
        // An absent input at the end is left out: the runtime merges sums into products only where there is none.
        input: inputs.slice(0, inputs.findLastIndex((value) => value) + 1).map((value) => value?.name ?? ''),
        output: outputs.map((value) => value.name),
        attribute: Object.entries(options.attributes ?? {}).map(([name, data]) => attribute(name, data)),
      }),
    );
    return outputs;
  }

  /** `node` for the common case of one output. */
  node1(
    op: string,
    inputs: readonly (Value | undefined)[],
    result: Omit<Value, 'name'>,
    options: NodeOptions = {},
  ): Value {
    return this.node(op, inputs, [result], options)[0];
  }

  record(entry: TapeEntry): void {
    this.tape.push(entry);
  }

  /** A target shape for Reshape as an int64 vector: constant where it can be; one symbol is left to the runtime as -1. */
  shapeVector(shape: Shape): Value {
    const symbols = shape.filter((dim) => typeof dim === 'string');
    const unknown = symbols.filter((dim) => !this.#symbols.has(dim));
    if (unknown.length > 1)
      throw new Error(`internal: cannot resolve the sizes ${unknown.join(', ')} of [${shape.join(', ')}]`);
    const free = unknown[0] ?? symbols.at(-1);
    if (symbols.length > 1) return this.runtimeShape(shape, free);
    return this.constant(
      'int64',
      [shape.length],
      shape.map((dim) => (typeof dim === 'number' ? dim : -1)),
    );
  }

  /** A shape read off the inputs when the graph runs; `free` is written as -1. */
  runtimeShape(shape: Shape, free?: Dim): Value {
    const parts = shape.map((dim) => {
      if (typeof dim === 'number') return this.constant('int64', [1], [dim]);
      if (dim === free) return this.constant('int64', [1], [-1]);
      const source = this.#symbols.get(dim);
      if (!source) throw new Error(`internal: no input of the graph has the size ${dim}`);
      const attributes = { start: source.axis, end: source.axis + 1 };
      return this.node1('Shape', [source.value], { type: 'int64', shape: [1] }, { attributes });
    });
    return this.node1('Concat', parts, { type: 'int64', shape: [shape.length] }, { attributes: { axis: 0 } });
  }

  /**
   * Drops nodes that no output depends on. The runtime would compute them; a layer that is computed again from kept values
   * has many.
   */
  prune(): void {
    const wanted = new Set([...this.#outputs.map(({ name }) => name), ...this.#renamed.keys()]);
    const kept: NodeProto[] = [];
    for (const node of [...this.#nodes].reverse()) {
      if (!node.output.some((name) => wanted.has(name))) continue;
      node.input.forEach((name) => wanted.add(name));
      kept.unshift(node);
    }
    this.#nodes.splice(0, this.#nodes.length, ...kept);
    // What was an input of dropped nodes alone need not be fed.
    this.#inputs.splice(0, this.#inputs.length, ...this.#inputs.filter(({ name }) => wanted.has(name)));
    const used = this.#initializers.filter(({ name }) => wanted.has(name));
    this.#initializers.splice(0, this.#initializers.length, ...used);
  }

  /** Names of the inputs, in order. */
  get inputNames(): string[] {
    return this.#inputs.map(({ name }) => name);
  }

  /** The finished model as ONNX protobuf bytes. */
  toOnnx(): Uint8Array {
    const renamed = (names: readonly string[]): string[] => names.map((name) => this.#renamed.get(name) ?? name);
    return toBinary(
      ModelProtoSchema,
      create(ModelProtoSchema, {
        irVersion: IR_VERSION,
        producerName: 'tabwright',
        opsetImport: [
          { domain: '', version: OPSET },
          { domain: 'com.microsoft', version: 1n },
        ],
        graph: {
          name: 'graph',
          node: this.#nodes.map((node) => ({ ...node, input: renamed(node.input), output: renamed(node.output) })),
          initializer: this.#initializers,
          input: this.#inputs,
          output: this.#outputs,
        },
      }),
    );
  }
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}

function valueInfo(value: Value): ValueInfoProto {
  return create(ValueInfoProtoSchema, {
    name: value.name,
    type: {
      value: {
        case: 'tensorType',
        value: {
          elemType: ELEMENT_TYPES[value.type],
          shape: {
            dim: value.shape.map((dim) => ({
              value:
                typeof dim === 'number'
                  ? { case: 'dimValue' as const, value: BigInt(dim) }
                  : { case: 'dimParam' as const, value: dim },
            })),
          },
        },
      },
    },
  });
}

function tensor(value: Value, shape: readonly number[], data: readonly number[]): TensorProto {
  const dims = shape.map(BigInt);
  const dataType = ELEMENT_TYPES[value.type];
  switch (value.type) {
    case 'float32':
      return create(TensorProtoSchema, { name: value.name, dataType, dims, floatData: [...data] });
    case 'float64':
      return create(TensorProtoSchema, { name: value.name, dataType, dims, doubleData: [...data] });
    case 'int64':
      return create(TensorProtoSchema, { name: value.name, dataType, dims, int64Data: data.map(BigInt) });
    case 'int32':
    case 'uint8':
    case 'bool':
      return create(TensorProtoSchema, { name: value.name, dataType, dims, int32Data: [...data] });
    default:
      return value.type satisfies never;
  }
}

function attribute(name: string, data: Attributes[string]): AttributeProto {
  if (typeof data === 'number') return create(AttributeProtoSchema, { name, type: AttributeType.INT, i: BigInt(data) });
  if (typeof data === 'string') {
    return create(AttributeProtoSchema, { name, type: AttributeType.STRING, s: new TextEncoder().encode(data) });
  }
  if ('float' in data) return create(AttributeProtoSchema, { name, type: AttributeType.FLOAT, f: data.float });
  return create(AttributeProtoSchema, { name, type: AttributeType.INTS, ints: data.map(BigInt) });
}
