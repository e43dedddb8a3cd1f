// The cell's side of host calls: sends a call, and settles its promise when the answer comes. Arguments leave as wire
// values; results and errors become objects of the cells' realm, and an error's stack shows where the cell called.

import { encodeValue, type WireValue } from '../wire-values.ts';
import type { CallError, CallMessage, ResultMessage } from './messages.ts';
import { withoutOwnFrames } from './own-frames.ts';
import type { Realm } from './realm.ts';

export interface HostLink {
  /** Rejects with an error of the realm. */
  call(method: string, args: unknown[]): Promise<unknown>;
  settle(message: ResultMessage): void;
}

type Pending = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  /** The frames of the caller, as `Error.stack` writes them. */
  readonly frames: string;
};

export function createHostLink(realm: Realm, send: (message: CallMessage) => void): HostLink {
  const pending = new Map<number, Pending>();
  let lastId = 0;

  return {
    call(method, args) {
      const frames = callerFrames();
      return new Promise((resolve, reject) => {
        const params: WireValue[] = [];
        try {
          for (let i = 0; i < args.length; i++) params.push(encodeValue(args[i]));
        } catch (error) {
          const message = `${method}: argument ${params.length + 1}: ${(error as Error).message}`;
          reject(realmError(realm, { name: 'TypeError', message }, frames));
          return;
        }
        const id = ++lastId;
        pending.set(id, { resolve, reject, frames });
        send({ type: 'call', id, method, params });
      });
    },
    settle(message) {
      const call = pending.get(message.id);
      if (call === undefined) throw new Error(`internal: an answer to call ${message.id}, which was never made`);
      pending.delete(message.id);
      if ('error' in message) call.reject(realmError(realm, message.error, call.frames));
      else call.resolve(toRealm(realm, message.value));
    },
  };
}

function callerFrames(): string {
  const { stack = '' } = new Error();
  return withoutOwnFrames(stack.slice(stack.indexOf('\n') + 1));
}

function realmError(realm: Realm, { name, message, properties }: CallError, frames: string): Error {
  const known = realm.errors.get(name);
  const error = new (known ?? realm.Error)(message);
  const set = (key: string, value: unknown, enumerable: boolean): void => {
    Object.defineProperty(error, key, { value, writable: true, configurable: true, enumerable });
  };
  if (known === undefined) set('name', name, false);
  for (const [key, value] of Object.entries(properties ?? {})) set(key, toRealm(realm, value ?? null), true);
  set('stack', `${name}: ${message}\n${frames}`, false);
  return error;
}

/** The realm's own JSON, so that arrays and objects are the cells' kind; then what JSON cannot say. */
function toRealm(realm: Realm, value: WireValue): unknown {
  const json = JSON.stringify(value);
  const parsed = realm.parseJson(json);
  return json.includes('{"$') ? withTags(realm, parsed) : parsed;
}

/** Replaces tags in place; all keys are own ones, so no setter of a prototype is met. */
function withTags(realm: Realm, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inside = value as Record<string, unknown>;
  const keys = Object.keys(inside);
  if (keys.length === 1 && keys[0].startsWith('$') && !Array.isArray(value)) return tagged(realm, keys[0], inside);
  for (const key of keys) inside[key] = withTags(realm, inside[key]);
  return value;
}

function tagged(realm: Realm, tag: string, value: Record<string, unknown>): unknown {
  const content = value[tag];
  switch (tag) {
    case '$undefined':
      return undefined;
    case '$number':
      return Number(content);
    case '$bigint':
      return BigInt(content as string);
    case '$bytes':
      return Buffer.from(content as string, 'base64');
    case '$object': {
      const object = content as Record<string, unknown>;
      for (const key of Object.keys(object)) object[key] = withTags(realm, object[key]);
      return object;
    }
    default:
      throw new Error(`internal: the host sent a value with the unknown tag ${tag}`);
  }
}
