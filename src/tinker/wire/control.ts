// The control plane: every JSON message that carries no tensors, as schemas with the names of the wire. Readers are
// lenient, unknown keys are let through and null counts as absent, so that either side may be newer than the other.
// Source: the SDK's request and response types, 0.24.1 to 0.38.0.

import { z } from 'zod';

const id = z.string();
const text = z.string().nullish();
const texts = z.record(z.string(), z.string()).nullish();
const whole = z.int();

export const clientConfigRequestSchema = z.object({ sdk_version: text });

/** What a server tells a client at the start; every field may be missing. */
export const clientConfigSchema = z.object({
  pjwt_auth_enabled: z.boolean().nullish(),
  sample_dispatch_bytes_semaphore_size: whole.nullish(),
  inflight_response_bytes_semaphore_size: whole.nullish(),
  parallel_fwdbwd_chunks: z.boolean().nullish(),
  proto_write_fwdbwd: z.boolean().nullish(),
  proto_compress_fwdbwd: z.boolean().nullish(),
  fwdbwd_max_chunk_len: whole.nullish(),
  fwdbwd_max_chunk_bytes_count: whole.nullish(),
  fwdbwd_dispatch_bytes_semaphore_size: whole.nullish(),
  sample_max_concurrent_requests: whole.nullish(),
  use_pyqwest_transport: z.boolean().nullish(),
  /** Whether results of samples are waited for by `retrieve_futures`, many at a time. */
  sample_use_retrieve_futures: z.boolean().nullish(),
  /** Whether a further client of a sampler gets its block of numbers by `join_sampling_session`. */
  sample_join_sampling_session: z.boolean().nullish(),
});

export const dynamicConfigSchema = z.object({
  refresh_interval_sec: z.number().nullish(),
  sample_cancel_enabled: z.boolean().nullish(),
});

export const createSessionRequestSchema = z.object({
  tags: z.array(z.string()).nullish(),
  user_metadata: z.record(z.string(), z.unknown()).nullish(),
  sdk_version: text,
  project_id: text,
  display_name: text,
});
export const createSessionReplySchema = z.object({
  session_id: id,
  info_message: text,
  warning_message: text,
  error_message: text,
});

export const sessionRequestSchema = z.object({ session_id: id });

export const finishSessionRequestSchema = z.object({
  reason: z.object({ type: z.enum(['success', 'errored', 'interrupted']) }),
  detail: text,
});

export const createSamplingSessionRequestSchema = z.object({
  session_id: id,
  sampling_session_seq_id: whole,
  base_model: text,
  model_path: text,
});
export const createSamplingSessionReplySchema = z.object({ sampling_session_id: id });

export const joinSamplingSessionRequestSchema = z.object({ sampling_session_id: id });
/** Of the sampler's clients, from 1 on; its requests are numbered from this many thousand million. */
export const joinSamplingSessionReplySchema = z.object({ client_counter: whole.min(1) });

export const loraConfigSchema = z.object({
  rank: whole,
  seed: whole.nullish(),
  train_unembed: z.boolean().nullish(),
  train_mlp: z.boolean().nullish(),
  train_attn: z.boolean().nullish(),
});

/** The family is fixed at creation; its parameters travel with every step. */
export const optimizerConfigSchema = z.looseObject({ type: z.string() });

export const createModelRequestSchema = z.object({
  session_id: id,
  model_seq_id: whole,
  base_model: z.string(),
  user_metadata: texts,
  lora_config: loraConfigSchema.nullish(),
  optimizer_config: optimizerConfigSchema.nullish(),
});

export const modelRequestSchema = z.object({ model_id: id });
export const modelResultSchema = z.object({ model_id: text });

export const getInfoReplySchema = z.object({
  model_id: id,
  model_data: z.object({ arch: text, model_name: text, tokenizer_id: text }),
  is_lora: z.boolean().nullish(),
  lora_rank: whole.nullish(),
  model_name: text,
  optimizer_config: optimizerConfigSchema.nullish(),
});

export const adamParamsSchema = z.object({
  learning_rate: z.number().default(1e-4),
  beta1: z.number().default(0.9),
  beta2: z.number().default(0.95),
  eps: z.number().default(1e-12),
  weight_decay: z.number().default(0),
  grad_clip_norm: z.number().default(0),
});

export const optimStepRequestSchema = z.object({
  model_id: id,
  seq_id: whole.nullish(),
  adam_params: adamParamsSchema.nullish(),
  /** Of any other family than AdamW. */
  optimizer_params: z.looseObject({ type: z.string() }).nullish(),
});
export const optimStepResultSchema = z.object({ metrics: z.record(z.string(), z.number()).nullish() });

export const saveWeightsRequestSchema = z.object({
  model_id: id,
  path: z.string(),
  seq_id: whole.nullish(),
  ttl_seconds: whole.nullish(),
  overwrite: z.boolean().nullish(),
  user_metadata: texts,
});

/** With a `path` it makes a checkpoint, with a `sampling_session_seq_id` a sampler that has no name. */
export const saveWeightsForSamplerRequestSchema = z.object({
  model_id: id,
  path: text,
  sampling_session_seq_id: whole.nullish(),
  seq_id: whole.nullish(),
  ttl_seconds: whole.nullish(),
  kind: z.enum(['snapshot', 'inflight']).nullish(),
  user_metadata: texts,
});

export const saveWeightsExternalRequestSchema = z.object({
  model_id: id,
  path: z.string(),
  seq_id: whole.nullish(),
  ttl_seconds: whole.nullish(),
  age_encryption_recipients: z.array(z.string()).nullish(),
});

/** `path` of a named checkpoint, `sampling_session_id` of a sampler without a name. */
export const saveResultSchema = z.object({ path: text, sampling_session_id: text });

/** With `model_id` it fills a model that exists; with `session_id` and `model_seq_id` it makes one, and has no seq_id. */
export const loadWeightsRequestSchema = z.object({
  model_id: text,
  seq_id: whole.nullish(),
  session_id: text,
  model_seq_id: whole.nullish(),
  base_model: text,
  user_metadata: texts,
  optimizer_config: optimizerConfigSchema.nullish(),
  path: z.string(),
  optimizer: z.boolean().nullish(),
  weights_access_token: text,
});
export const loadResultSchema = z.object({ path: text, model_id: text });

export const weightsInfoRequestSchema = z.object({ tinker_path: z.string() });
export const weightsInfoReplySchema = z.object({
  base_model: z.string(),
  is_lora: z.boolean(),
  lora_rank: whole.nullish(),
  train_unembed: z.boolean().nullish(),
  train_mlp: z.boolean().nullish(),
  train_attn: z.boolean().nullish(),
  optimizer_config: optimizerConfigSchema.nullish(),
});

export const samplerReplySchema = z.object({ sampler_id: id, base_model: z.string(), model_path: text });

/** What a submitted piece of work is answered with. */
export const promiseSchema = z.object({
  request_id: id,
  model_id: text,
  /** One a sample, since SDK 0.26. */
  sample_sequence_ids: z.array(z.string()).nullish(),
});

export const retrieveFutureRequestSchema = z.object({ request_id: id, allow_metadata_only: z.boolean().nullish() });
/** Which requests of one client of a sampler have ended since `prev_cursor`; held open until one has. */
export const retrieveFuturesRequestSchema = z.object({
  target: z.object({
    type: z.literal('sampling_session'),
    sampling_session_id: id,
    cloned_sampler_id: whole.min(0).nullish(),
  }),
  prev_cursor: whole.min(0).nullish(),
  /** Seconds; 0 answers at once. */
  timeout: z.number().min(0).nullish(),
  retrieved_request_ids: z.array(z.string()).nullish(),
});
export const retrieveFuturesReplySchema = z.object({
  completions: z.array(
    z.object({
      state: z.enum(['finished', 'failed']),
      request_id: id,
      response_payload_uncompressed_size: z.number().nullish(),
    }),
  ),
  cursor: whole,
});
export const cancelFutureRequestSchema = z.object({ request_id: id });

export const tryAgainSchema = z.object({
  type: z.literal('try_again'),
  request_id: text,
  queue_state: z.string().nullish(),
  queue_state_reason: text,
});
export const completeMetadataSchema = z.object({
  status: z.literal('complete_metadata'),
  response_payload_size: z.number(),
});
export const failedFutureSchema = z.object({ error: z.string(), category: text });

export const capabilitiesReplySchema = z.object({
  supported_models: z.array(
    z.object({
      model_name: text,
      max_context_length: whole.nullish(),
      trainable: z.boolean().nullish(),
      sampleable: z.boolean().nullish(),
    }),
  ),
});

export const checkpointSchema = z.object({
  /** `weights/<name>`; SkyRL leaves the kind away. */
  checkpoint_id: z.string(),
  checkpoint_type: z.enum(['training', 'sampler', 'external']),
  time: z.string(),
  tinker_path: z.string(),
  size_bytes: z.number().nullish(),
  public: z.boolean().nullish(),
  expires_at: text,
  user_metadata: texts,
});

export const trainingRunSchema = z.object({
  training_run_id: id,
  base_model: z.string(),
  model_owner: text,
  is_lora: z.boolean().nullish(),
  corrupted: z.boolean().nullish(),
  lora_rank: whole.nullish(),
  last_request_time: text,
  last_checkpoint: checkpointSchema.nullish(),
  last_sampler_checkpoint: checkpointSchema.nullish(),
  user_metadata: texts,
});

const cursorSchema = z.object({ offset: whole, limit: whole, total_count: whole });

export const trainingRunsReplySchema = z.object({
  training_runs: z.array(trainingRunSchema),
  cursor: cursorSchema.nullish(),
});
export const checkpointsReplySchema = z.object({
  checkpoints: z.array(checkpointSchema),
  cursor: cursorSchema.nullish(),
});
export const sessionsReplySchema = z.object({ sessions: z.array(z.string()) });
export const sessionReplySchema = z.object({
  training_run_ids: z.array(z.string()),
  sampler_ids: z.array(z.string()),
  user_metadata: z.record(z.string(), z.unknown()).nullish(),
  display_name: text,
});
export const ttlRequestSchema = z.object({ ttl_seconds: whole.nullable() });
export const archiveReplySchema = z.object({ url: z.string(), expires: text });
export const externalUrlsReplySchema = z.object({ urls: z.record(z.string(), z.string()), expires: text });

export type ClientConfig = z.infer<typeof clientConfigSchema>;
export type CreateModelRequest = z.infer<typeof createModelRequestSchema>;
export type GetInfoReply = z.infer<typeof getInfoReplySchema>;
export type WireAdamParams = z.infer<typeof adamParamsSchema>;
export type OptimizerConfig = z.infer<typeof optimizerConfigSchema>;
export type OptimStepRequest = z.infer<typeof optimStepRequestSchema>;
export type SaveWeightsRequest = z.infer<typeof saveWeightsRequestSchema>;
export type SaveWeightsForSamplerRequest = z.infer<typeof saveWeightsForSamplerRequestSchema>;
export type LoadWeightsRequest = z.infer<typeof loadWeightsRequestSchema>;
export type WeightsInfo = z.infer<typeof weightsInfoReplySchema>;
export type WirePromise = z.infer<typeof promiseSchema>;
export type Capabilities = z.infer<typeof capabilitiesReplySchema>;
export type Checkpoint = z.infer<typeof checkpointSchema>;
export type TrainingRun = z.infer<typeof trainingRunSchema>;
export type SessionInfo = z.infer<typeof sessionReplySchema>;
