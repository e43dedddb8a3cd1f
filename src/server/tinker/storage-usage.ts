// How much room checkpoints take, by project. Nothing is billed here, so that no rate and no cost goes with it.

import type { RunRecord } from './checkpoint-records.ts';
import { NO_PROJECT } from './session-search.ts';
import type { ServiceParts } from './service-parts.ts';

const GIGABYTE = 1e9;

/** A run is of its session's project, which may change; a copy of the one that it was made into. */
export function projectOf({ projectId, sessionId }: RunRecord, sessions: ServiceParts['sessions']): string {
  return projectId ?? sessions.find(sessionId)?.projectId ?? NO_PROJECT;
}

export function storageUsage({ checkpoints, sessions }: ServiceParts, project: string | undefined): object {
  const sums = new Map<string, { count: number; bytes: number }>();
  for (const run of checkpoints.runs) {
    const key = projectOf(run, sessions);
    if (project !== undefined && key !== project) continue;
    const sum = sums.get(key) ?? { count: 0, bytes: 0 };
    for (const { sizeBytes } of checkpoints.list(run.runId)) {
      sum.count++;
      sum.bytes += sizeBytes;
    }
    if (sum.count > 0) sums.set(key, sum);
  }
  return {
    effective_rate_usd_per_gigabyte_month: null,
    data: [...sums].map(([project_id, { count, bytes }]) => ({
      project_id,
      checkpoint_count: count,
      size_bytes: bytes,
      size_gigabytes: bytes / GIGABYTE,
    })),
  };
}
