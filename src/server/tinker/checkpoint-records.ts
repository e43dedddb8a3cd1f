// What is known of a checkpoint and of the training run it belongs to, as it lies on the disk and as Tinker's REST
// interface shows it. Formats only; where they lie is `checkpoint-store.ts`.

import { z } from 'zod';
import { formatPath, type CheckpointKind } from './names.ts';

export const loraRecord = z.object({
  rank: z.number(),
  trainAttention: z.boolean(),
  trainMlp: z.boolean(),
  trainUnembed: z.boolean(),
});

export type LoraRecord = Readonly<z.infer<typeof loraRecord>>;

const metadata = z.record(z.string(), z.string());

export const runRecord = z.object({
  version: z.literal(1),
  runId: z.string(),
  /** Empty for a copy that no session has. */
  sessionId: z.string(),
  /** Of a copy that was made into one; other runs are of their session's. */
  projectId: z.string().optional(),
  /** As the client called it. */
  baseModel: z.string(),
  /** Absent where every weight is trained. */
  lora: loraRecord.optional(),
  userMetadata: metadata.optional(),
  createdAt: z.string(),
});

export type RunRecord = Readonly<z.infer<typeof runRecord>>;

export const checkpointRecord = z.object({
  version: z.literal(1),
  kind: z.enum(['weights', 'sampler_weights', 'external_weights']),
  name: z.string(),
  /** Name of the folder with the content, beside the record; another one each time a name is written anew. */
  folder: z.string(),
  time: z.string(),
  /** Tells equal content: no training step lies between two saves of the same one. */
  content: z.string(),
  sizeBytes: z.number(),
  public: z.boolean(),
  expiresAt: z.string().optional(),
  userMetadata: metadata.optional(),
});

export type CheckpointRecord = Readonly<z.infer<typeof checkpointRecord>>;

const TYPES = {
  weights: 'training',
  sampler_weights: 'sampler',
  external_weights: 'external',
} as const satisfies Record<CheckpointKind, string>;

export function checkpointAnswer(run: RunRecord, record: CheckpointRecord): object {
  const { kind, name } = record;
  return {
    checkpoint_id: `${kind}/${name}`,
    checkpoint_type: TYPES[kind],
    time: record.time,
    tinker_path: formatPath({ runId: run.runId, kind, name }),
    size_bytes: record.sizeBytes,
    public: record.public,
    expires_at: record.expiresAt ?? null,
    ...(record.userMetadata === undefined ? {} : { user_metadata: record.userMetadata }),
  };
}

export function runAnswer(run: RunRecord, checkpoints: readonly CheckpointRecord[], lastRequestAt: string): object {
  const last = (kind: CheckpointKind): object | null => {
    const record = checkpoints.filter((one) => one.kind === kind).at(-1);
    return record === undefined ? null : checkpointAnswer(run, record);
  };
  return {
    training_run_id: run.runId,
    base_model: run.baseModel,
    model_owner: 'local',
    is_lora: run.lora !== undefined,
    lora_rank: run.lora?.rank ?? null,
    corrupted: false,
    last_request_time: lastRequestAt,
    last_checkpoint: last('weights'),
    last_sampler_checkpoint: last('sampler_weights'),
    user_metadata: run.userMetadata ?? null,
  };
}
