// Tinker's API: its wire, for clients and servers, and a client of it.

export { AdminClient } from './client/admin-client.ts';
export { checkKeyChannel, findApiKey, isLoopback, type ApiKeyOptions } from './client/api-key.ts';
export { DEFAULT_PACING, type Pacing } from './client/pacing.ts';
export {
  RestClient,
  type CheckpointName,
  type CopyOptions,
  type Listing,
  type Page,
  type SessionSearch,
} from './client/rest-client.ts';
export { SamplingClient, type SampleCall, type SampleResult } from './client/sampling-client.ts';
export {
  SDK_VERSION,
  ServiceClient,
  type CreateTrainingOptions,
  type FromStateOptions,
  type LoraSettings,
  type ServiceClientOptions,
} from './client/service-client.ts';
export type { WireCustomLoss } from './client/custom-loss.ts';
export type { LossSettings } from './client/passes.ts';
export { TrainingClient, type OtherOptimizerParams, type SaveOptions } from './client/training-client.ts';
export { TinkerBackend, type TinkerBackendOptions } from './tinker-backend.ts';
export { TinkerSampler } from './tinker-sampler.ts';
export { TinkerTrainer } from './tinker-trainer.ts';
export * from './wire/index.ts';
