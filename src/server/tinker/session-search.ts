// Looking for sessions by what is known of them, newest first and in pages, and how each is shown. The words are Tinker's.
// Source: SDK 0.38.0's types SessionSearchRequest, SessionSummary and SessionStatus.

import { z } from 'zod';
import { isGiven } from './absent.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import type { Session } from './sessions.ts';

const reasons = z.enum(['success', 'errored', 'interrupted']);

export const sessionSearchSchema = z.object({
  session_id: z.string().nullish(),
  display_name: z.string().nullish(),
  user_metadata: z.record(z.string(), z.unknown()).nullish(),
  project_ids: z.array(z.string()).nullish(),
  statuses: z.array(z.object({ type: z.string(), reasons: z.array(reasons).nullish() })).nullish(),
  limit: z.int().min(1).max(1_000).nullish(),
  cursor: z.object({ last_session_id: z.string() }).nullish(),
});

export type SessionSearch = z.infer<typeof sessionSearchSchema>;

/** All of whoever keeps no projects. */
export const NO_PROJECT = 'local';
const PAGE = 50;

export function searchSessions(all: readonly Session[], search: SessionSearch, checkpoints: CheckpointStore): object {
  const wanted = [...all].reverse().filter((session) => matches(session, search));
  const after = search.cursor ? wanted.findIndex(({ id }) => id === search.cursor!.last_session_id) + 1 : 0;
  const found = wanted.slice(after, after + (search.limit ?? PAGE));
  const last = found.at(-1);
  return {
    sessions: found.map((session) => summary(session, checkpoints)),
    ...(last !== undefined && after + found.length < wanted.length
      ? { next_cursor: { last_created_at: last.createdAt.toISOString(), last_session_id: last.id } }
      : {}),
  };
}

function summary(session: Session, checkpoints: CheckpointStore): object {
  const saved = [...session.modelIds].flatMap((id) => checkpoints.list(id));
  return {
    session_id: session.id,
    created_at: session.createdAt.toISOString(),
    owner: NO_PROJECT,
    project_id: session.projectId ?? NO_PROJECT,
    status: statusOf(session),
    checkpoints_count: saved.length,
    checkpoint_storage_bytes: saved.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    display_name: session.displayName ?? null,
    user_metadata: session.userMetadata,
  };
}

/** Of one that was lost nothing is known, for which Tinker's word is null. */
function statusOf({ ended }: Session): object | null {
  if (ended === undefined) return { type: 'active' };
  if (ended.type === 'lost') return null;
  return { type: ended.type, reason: { type: ended.reason }, detail: ended.detail };
}

function matches(session: Session, search: SessionSearch): boolean {
  return (
    isNamed(session, search) &&
    Object.entries(search.user_metadata ?? {}).every(([key, value]) => session.userMetadata[key] === value) &&
    (!isGiven(search.project_ids) || search.project_ids.includes(session.projectId ?? NO_PROJECT)) &&
    (!isGiven(search.statuses) || search.statuses.some((status) => hasStatus(session, status)))
  );
}

/** By its id or by words of its name; either will do where both are given. */
function isNamed({ id, displayName = '' }: Session, { session_id, display_name }: SessionSearch): boolean {
  const byId = isGiven(session_id) && id === session_id;
  const words = display_name?.toLowerCase().split(/\s+/) ?? [];
  const byName = isGiven(display_name) && words.every((word) => displayName.toLowerCase().includes(word));
  return byId || byName || (!isGiven(session_id) && !isGiven(display_name));
}

function hasStatus({ ended }: Session, { type, reasons }: NonNullable<SessionSearch['statuses']>[number]): boolean {
  if (ended === undefined) return type === 'active';
  if (ended.type !== type) return false;
  return ended.type !== 'client_finished' || !isGiven(reasons) || reasons.includes(ended.reason);
}
