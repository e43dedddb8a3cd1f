// One compiled graph on ONNX Runtime. The only file that imports the runtime.

import './no-telemetry.ts';
import * as ort from 'onnxruntime-node';
import { availableParallelism } from 'node:os';
import { EXTERNAL_DATA, type Graph } from './graph.ts';

/** Microseconds that an idle thread waits awake for the next operator: longer, it would spin on the core that the browser needs. */
const AWAKE = 20;

export type FeedData = Float32Array | Float64Array | BigInt64Array | Int32Array;
/** Inputs by name: data and shape. */
export type Feeds = Readonly<Record<string, { readonly data: FeedData; readonly shape: readonly number[] }>>;

export type SessionOptions = {
  /** Threads inside one operator. Default: the machine's cores, at most 4. */
  readonly threads?: number;
};

export type CompileOptions = SessionOptions & {
  /** Memory of one run is kept for the next, for this graph alone. Default true; not for one of many large graphs. */
  readonly keepsMemory?: boolean;
  /** How long idle threads stay awake between operators, in microseconds. Default 20. */
  readonly awake?: number;
};

export class Session {
  readonly #session: ort.InferenceSession;

  private constructor(session: ort.InferenceSession) {
    this.#session = session;
  }

  /** `external` holds the constants that the graph names by their place; it may go once this has resolved. */
  static async compile(
    graph: Graph,
    { threads, keepsMemory = true, awake = AWAKE }: CompileOptions = {},
    external?: Uint8Array,
  ): Promise<Session> {
    const session = await ort.InferenceSession.create(graph.toOnnx(), {
      intraOpNumThreads: threads ?? Math.min(4, availableParallelism()),
      graphOptimizationLevel: 'all',
      // Shapes differ from call to call; memory patterns would be made for each and never used again.
      enableMemPattern: false,
      enableCpuMemArena: keepsMemory,
      logSeverityLevel: 3,
      ...(external ? { externalData: [{ path: EXTERNAL_DATA, data: external }] } : {}),
      // Waking a thread costs more than a short operator; after a run none stays awake.
      extra: {
        session: { intra_op: { allow_spinning: '1', spin_duration_us: String(awake) }, force_spinning_stop: '1' },
      },
    });
    return new Session(session);
  }

  /**
   * Runs the graph; outputs by name, in storage owned by the caller. Those named in `into` are written there, which must
   * not be an input too, but for operators made for it. The binding makes a copy of every output, of those too: what is
   * returned for them is that copy, to be dropped.
   */
  async run(feeds: Feeds, into: Feeds = {}): Promise<Record<string, Float32Array>> {
    const given = tensors(into);
    return this.#fetch(feeds, Object.fromEntries(this.#session.outputNames.map((name) => [name, given[name] ?? null])));
  }

  /** Runs the graph for some of its outputs: the others are not handed out, which costs a copy each. */
  async only(names: readonly string[], feeds: Feeds): Promise<Record<string, Float32Array>> {
    return this.#fetch(feeds, Object.fromEntries(names.map((name) => [name, null])));
  }

  async #fetch(feeds: Feeds, wanted: Record<string, ort.Tensor | null>): Promise<Record<string, Float32Array>> {
    const results = await this.#session.run(tensors(feeds), wanted);
    const outputs: Record<string, Float32Array> = {};
    for (const [name, value] of Object.entries(results)) outputs[name] = value.data as Float32Array;
    return outputs;
  }

  /** Those of `feeds` that the graph reads. */
  pick(feeds: Feeds): Feeds {
    return Object.fromEntries(this.#session.inputNames.map((name) => [name, feeds[name]]));
  }

  async release(): Promise<void> {
    await this.#session.release();
  }
}

function tensors(feeds: Feeds): Record<string, ort.Tensor> {
  return Object.fromEntries(Object.entries(feeds).map(([name, { data, shape }]) => [name, tensor(data, shape)]));
}

function tensor(data: FeedData, shape: readonly number[]): ort.Tensor {
  if (data instanceof Float32Array) return new ort.Tensor('float32', data, shape);
  if (data instanceof Float64Array) return new ort.Tensor('float64', data, shape);
  return data instanceof Int32Array ? new ort.Tensor('int32', data, shape) : new ort.Tensor('int64', data, shape);
}
