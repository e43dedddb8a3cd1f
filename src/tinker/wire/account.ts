// What an account has and does beside training: sessions that are looked for, copies, storage, bills and the audit log, as
// schemas with the names of the wire. Lenient like the rest of the control plane.
// Source: the SDK's request and response types, 0.38.0.

import { z } from 'zod';

const text = z.string().nullish();
const texts = z.record(z.string(), z.string()).nullish();
const whole = z.int();
const number = z.number().nullish();

/** Into a project, or into the run that a session has or will have under this number. */
export const copyWeightsRequestSchema = z.object({
  source_path: z.string(),
  destination_project_id: text,
  session_id: text,
  model_seq_id: whole.nullish(),
  ttl_seconds: whole.nullish(),
});
export const copyWeightsReplySchema = z.object({ tinker_path: z.string() });

export const sessionStatusSchema = z.looseObject({
  /** `active`, `client_finished`, `cancelled` or `failed`. */
  type: z.string(),
  /** Of what a client said at its end: `success`, `errored` or `interrupted`. */
  reason: z.looseObject({ type: z.string() }).nullish(),
  detail: text,
  /** Of a failure. */
  message: text,
});
const sessionCursorSchema = z.object({ last_created_at: z.string(), last_session_id: z.string() });
export const sessionSearchReplySchema = z.object({
  sessions: z.array(
    z.object({
      session_id: z.string(),
      created_at: z.string(),
      owner: z.string(),
      project_id: z.string(),
      /** Null where it is neither ended nor known to live. */
      status: sessionStatusSchema.nullish(),
      checkpoints_count: whole,
      checkpoint_storage_bytes: number,
      display_name: text,
      user_metadata: texts,
    }),
  ),
  next_cursor: sessionCursorSchema.nullish(),
});

/** A timeline of a session as a file, which is made when it is first asked for. */
export const traceExportReplySchema = z.object({
  status: z.enum(['pending', 'ready', 'failed']),
  url: text,
  error: text,
});

export const auditReplySchema = z.object({
  entries: z.array(
    z.object({ timestamp: z.string(), event: z.string(), event_details: z.record(z.string(), z.unknown()).nullish() }),
  ),
});

export const billingUsageReplySchema = z.object({
  /** One an hour, model, session and kind of use. */
  data: z.array(
    z.object({
      bucket_start: z.string(),
      bucket_end: z.string(),
      base_model: text,
      user_id: text,
      session_id: text,
      project_id: text,
      estimated_cost_usd: number,
      /** `training`, `sampling_prefill`, `sampling_sample`, `checkpoint` or `storage`, with its quantity. */
      event_info: z.looseObject({ type: z.string() }),
    }),
  ),
  sessions: z.record(z.string(), z.object({ user_metadata: texts })).nullish(),
  cost_data_through: text,
});

export const storageUsageReplySchema = z.object({
  effective_rate_usd_per_gigabyte_month: number,
  data: z.array(
    z.object({
      project_id: text,
      user_name: text,
      checkpoint_count: whole,
      size_bytes: z.number(),
      size_gigabytes: z.number(),
      estimated_monthly_cost_usd: number,
    }),
  ),
});

export type CopyWeightsRequest = z.infer<typeof copyWeightsRequestSchema>;
export type SessionSearchReply = z.infer<typeof sessionSearchReplySchema>;
export type AuditLog = z.infer<typeof auditReplySchema>;
export type BillingUsage = z.infer<typeof billingUsageReplySchema>;
export type StorageUsage = z.infer<typeof storageUsageReplySchema>;
