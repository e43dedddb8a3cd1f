// The services of the server put together, with what has to happen now and then and at the end. Knows no HTTP.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CheckpointService } from './checkpoint-service.ts';
import { CheckpointStore } from './checkpoint-store.ts';
import { FutureStore } from './future-store.ts';
import { createMetrics, type ServerMetrics } from './metrics.ts';
import { serverFault } from './refusals.ts';
import { resultBytes, type Result } from './results.ts';
import { SamplingService } from './sampling-service.ts';
import { ServedModels, type ServedModel } from './served-model.ts';
import type { ServerLimits, ServiceParts } from './service-parts.ts';
import { Sessions } from './sessions.ts';
import { TrainingService } from './training-service.ts';

export type ServicesOptions = {
  readonly models: readonly ServedModel[];
  /** Folder of the checkpoints. */
  readonly folder: string;
  readonly limits: ServerLimits;
  readonly onFailure: (error: unknown) => void;
};

export interface Services extends AsyncDisposable {
  readonly parts: ServiceParts;
  readonly training: TrainingService;
  readonly sampling: SamplingService;
  readonly saving: CheckpointService;
}

const SWEEP_MS = 5_000;

export async function createServices({ models, folder, limits, onFailure }: ServicesOptions): Promise<Services> {
  const checkpoints = await CheckpointStore.open(join(folder, 'runs'));
  // What a killed server had made for downloads would be in the way of what is made anew.
  const exports = join(folder, 'exports');
  await rm(exports, { recursive: true, force: true });
  const metrics: ServerMetrics = createMetrics();
  const now = (): number => performance.now();
  const futures = new FutureStore<Result>({
    retainMs: limits.retainMs,
    now,
    sizeOf: resultBytes,
    onSettled: ({ kind, settled }) => metrics.future(kind, 'value' in settled! ? 'finished' : 'failed'),
  });
  const sessions = new Sessions({
    timeoutMs: limits.sessionTimeoutMs,
    now,
    onEnd: ({ id }, reason) => {
      const failure = serverFault(reason);
      futures.failSession(id, failure);
      Promise.all([training.closeSession(id, failure), sampling.closeSession(id)]).catch(onFailure);
    },
  });
  const served = new ServedModels(models);
  const parts: ServiceParts = { limits, models: served, sessions, futures, checkpoints, metrics, onFailure };
  const training = new TrainingService(parts);
  const sampling = new SamplingService(parts);
  const saving = new CheckpointService(checkpoints, served, exports);
  metrics.gauge('tabwright_sessions', 'Sessions that live.', () => sessions.live);
  metrics.gauge('tabwright_waiting_polls', 'Long polls that are held open.', () => futures.waiting);
  metrics.gauge('tabwright_futures', 'Results that are kept and work that is pending.', () => futures.size);
  metrics.gauge('tabwright_pending_futures', 'Work that is pending.', () => futures.pending);
  metrics.gauge('tabwright_held_result_bytes', 'Memory of results that are kept.', () => futures.heldBytes);

  const sweeper = setInterval(
    () => {
      sessions.sweep();
      futures.sweep();
      saving.sweep();
      checkpoints.sweep().catch(onFailure);
    },
    Math.min(SWEEP_MS, limits.sessionTimeoutMs / 4, limits.retainMs / 4),
  ).unref();

  return {
    parts,
    training,
    sampling,
    saving,
    async [Symbol.asyncDispose]() {
      clearInterval(sweeper);
      const reason = serverFault('The server is shutting down.');
      futures.failAll(reason);
      await training.closeAll(reason);
      await sampling[Symbol.asyncDispose]();
      await saving[Symbol.asyncDispose]();
      metrics[Symbol.dispose]();
    },
  };
}
