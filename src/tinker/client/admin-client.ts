// What administrators of an account ask: who did what, what was used, how much room checkpoints take. Servers of one machine
// have little of it and say so with 404 (`tinker-not-found`).

import {
  auditReplySchema,
  billingUsageReplySchema,
  storageUsageReplySchema,
  type AuditLog,
  type BillingUsage,
  type StorageUsage,
} from '../wire/index.ts';
import type { Caller } from './caller.ts';

export class AdminClient {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Events of one day (UTC, `2026-01-31`); default the last one. */
  auditLog({
    eventType = 'all',
    day,
    signal,
  }: {
    readonly eventType?: 'all' | 'checkpoints' | 'projects' | 'teams' | 'organizations';
    readonly day?: string;
    readonly signal?: AbortSignal;
  } = {}): Promise<AuditLog> {
    const query = new URLSearchParams({ event_type: eventType, ...(day === undefined ? {} : { day }) });
    return this.#caller.json(auditReplySchema, { method: 'GET', path: `audit?${query.toString()}`, signal });
  }

  /** From one full hour to before another, at most 14 days. */
  billingUsage(from: Date, before: Date, signal?: AbortSignal): Promise<BillingUsage> {
    const query = new URLSearchParams({ starting_on: from.toISOString(), ending_before: before.toISOString() });
    const path = `billing/usage/events?${query.toString()}`;
    return this.#caller.json(billingUsageReplySchema, { method: 'GET', path, signal });
  }

  /** Of all projects, or of one. */
  checkpointStorage(projectId?: string, signal?: AbortSignal): Promise<StorageUsage> {
    const query = projectId === undefined ? '' : `?project_id=${encodeURIComponent(projectId)}`;
    const path = `billing/usage/checkpoints/current${query}`;
    return this.#caller.json(storageUsageReplySchema, { method: 'GET', path, signal });
  }
}
