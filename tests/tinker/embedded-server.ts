// For tests: a small model in this process, and the same model behind `serve` over real HTTP, so that the two can be
// compared figure by figure.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedBackend, initWeights, type ModelConfig } from '../../src/engine/index.ts';
import { serveTinker, type ServedModel, type TinkerServerOptions } from '../../src/server/index.ts';
import { ServiceClient, TinkerBackend, type ServiceClientOptions } from '../../src/tinker/index.ts';

/** Big enough for four heads in two groups, small enough to train in milliseconds. */
export const SMALL_MODEL: ModelConfig = {
  vocabSize: 32,
  hiddenSize: 16,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 4,
  intermediateSize: 32,
  ropeTheta: 10_000,
  rmsNormEps: 1e-6,
  tieEmbeddings: false,
  taps: 1,
  maxPositions: 64,
};

export function smallBackend(config: ModelConfig = SMALL_MODEL): EmbeddedBackend {
  return new EmbeddedBackend({ modelName: 'small', config, weights: initWeights(config, 3), threads: 1 });
}

export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly failures: readonly unknown[];
  connect(options?: Partial<ServiceClientOptions>): Promise<ServiceClient>;
  /** Of the served model, over HTTP; disposing of it ends its session. */
  backend(options?: Partial<ServiceClientOptions>): Promise<TinkerBackend>;
}

type Options = Partial<Omit<TinkerServerOptions, 'models'>> & {
  readonly model?: Partial<ServedModel>;
  readonly config?: ModelConfig;
};

export async function serveSmall({ model, config = SMALL_MODEL, ...options }: Options = {}): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'tabwright-tinker-'));
  const backend = smallBackend(config);
  const failures: unknown[] = [];
  const server = await serveTinker({
    models: [{ names: ['small'], backend, endTokens: [1], ...model }],
    port: 0,
    folder,
    onFailure: (error) => failures.push(error),
    ...options,
  });
  const connect: Served['connect'] = (more = {}) =>
    ServiceClient.connect({ baseUrl: server.url, apiKey: 'tml-local', ...more });
  return {
    url: server.url,
    failures,
    connect,
    async backend(more) {
      const service = await connect(more);
      return TinkerBackend.open({ service, baseModel: 'small', vocabSize: config.vocabSize });
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await backend[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
