// Sessions on this machine, browser and runtime booted ahead.

import { bootLocalSession, type LocalSessionOptions } from '../local-session.ts';
import { createSessionPool, type SessionPool, type SessionPoolOptions } from '../pool.ts';
import type { SessionProvider } from './provider.ts';

export type LocalProviderOptions = LocalSessionOptions & Omit<SessionPoolOptions, 'boot'>;

export function createLocalProvider(options: LocalProviderOptions): SessionProvider & Pick<SessionPool, 'state'> {
  const pool = createSessionPool({ ...options, boot: (signal) => bootLocalSession(options, signal) });
  return {
    kind: 'local',
    get state() {
      return pool.state;
    },
    acquire: (wait) => pool.acquire(wait),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
