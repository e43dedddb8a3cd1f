// Sessions: whoever stays away too long is taken to be gone, and what it had is given up. Knows neither models nor
// samplers; those are told when a session ends.

import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../core/index.ts';
import { refusal } from './refusals.ts';

/** As the client said, or without a word: its signs of life stopped. */
export type SessionEnd =
  | {
      readonly type: 'client_finished';
      readonly reason: 'success' | 'errored' | 'interrupted';
      readonly detail: string | null;
    }
  | { readonly type: 'lost' };

export type Session = {
  readonly id: string;
  readonly createdAt: Date;
  readonly tags: readonly string[];
  readonly userMetadata: JsonObject;
  readonly displayName: string | undefined;
  readonly sdkVersion: string;
  projectId: string | undefined;
  /** Milliseconds of the clock. */
  seenAt: number;
  ended: SessionEnd | undefined;
  /** In order of creation; they stay listed when they are gone. */
  readonly modelIds: Set<string>;
  readonly samplerIds: Set<string>;
};

export type SessionsOptions = {
  /** Without a sign of life for this long, a session is over. */
  readonly timeoutMs: number;
  readonly now: () => number;
  /** Gives up what it had. */
  readonly onEnd: (session: Session, reason: string) => void;
};

export type NewSession = {
  readonly tags: readonly string[];
  readonly userMetadata: JsonObject;
  readonly displayName?: string | undefined;
  readonly sdkVersion: string;
  readonly projectId?: string | undefined;
};

/** Sessions that are over stay listed up to this many. */
const KEEP_ENDED = 1_000;

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #all = new Map<string, Session>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Newest last, those that are over among them. */
  get all(): readonly Session[] {
    return [...this.#all.values()];
  }

  get live(): number {
    return this.all.filter(({ ended }) => ended === undefined).length;
  }

  create({ tags, userMetadata, displayName, sdkVersion, projectId }: NewSession): Session {
    const session: Session = {
      id: randomUUID(),
      createdAt: new Date(),
      tags,
      userMetadata,
      displayName,
      sdkVersion,
      projectId,
      seenAt: this.#options.now(),
      ended: undefined,
      modelIds: new Set(),
      samplerIds: new Set(),
    };
    this.#all.set(session.id, session);
    return session;
  }

  find(id: string): Session | undefined {
    return this.#all.get(id);
  }

  /** The session, which has thereby shown that it lives. */
  use(id: string): Session {
    const session = this.#all.get(id);
    if (session === undefined) {
      throw refusal('not-found', `There is no session ${JSON.stringify(id)}; this server may have been started anew.`);
    }
    if (session.ended !== undefined) throw refusal('gone', `The session ${id} is over (${session.ended.type}).`);
    session.seenAt = this.#options.now();
    return session;
  }

  /** Marks a sign of life, if there is such a session. */
  touch(id: string): void {
    const session = this.#all.get(id);
    if (session?.ended === undefined && session !== undefined) session.seenAt = this.#options.now();
  }

  end(session: Session, end: SessionEnd, reason: string): void {
    if (session.ended !== undefined) return;
    session.ended = end;
    this.#options.onEnd(session, reason);
  }

  /** Ends sessions that have shown no life for too long, and forgets the oldest of those that are over. */
  sweep(timeoutMs: number = this.#options.timeoutMs): void {
    const { now } = this.#options;
    const before = now() - timeoutMs;
    for (const session of this.#all.values()) {
      if (session.ended === undefined && session.seenAt < before) {
        this.end(
          session,
          { type: 'lost' },
          `The session sent no heartbeat for ${timeoutMs / 1000} s, so it was closed.`,
        );
      }
    }
    const over = this.all.filter(({ ended }) => ended !== undefined);
    for (const { id } of over.slice(0, Math.max(0, over.length - KEEP_ENDED))) this.#all.delete(id);
  }
}
