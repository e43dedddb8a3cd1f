// Reading values out of parsed JSON with an error that names the place. Lenient as the protocol asks of a server:
// unknown keys are let through, null counts as absent.

import type { WireJson } from './json-text.ts';
import { malformed } from './wire-error.ts';

export type JsonMap = { readonly [key: string]: WireJson | undefined };

export function asMap(value: WireJson | undefined, where: string): JsonMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(where, 'an object', value);
  return value as JsonMap;
}

export function asList(value: WireJson | undefined, where: string): readonly WireJson[] {
  if (!Array.isArray(value)) throw wrong(where, 'a list', value);
  return value as readonly WireJson[];
}

export function asText(value: WireJson | undefined, where: string): string {
  if (typeof value !== 'string') throw wrong(where, 'a text', value);
  return value;
}

export function asNumber(value: WireJson | undefined, where: string): number {
  // A large float may be written without a point; it is no less exact for it.
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'number') throw wrong(where, 'a number', value);
  return value;
}

export function asInteger(value: WireJson | undefined, where: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(where, 'a whole number', value);
  return value;
}

export function asInt32(value: WireJson | undefined, where: string): number {
  const number = asInteger(value, where);
  if ((number | 0) !== number) throw wrong(where, 'a whole number of 32 bits', value);
  return number;
}

export function asBigint(value: WireJson | undefined, where: string): bigint {
  return typeof value === 'bigint' ? value : BigInt(asInteger(value, where));
}

export function asBoolean(value: WireJson | undefined, where: string): boolean {
  if (typeof value !== 'boolean') throw wrong(where, 'true or false', value);
  return value;
}

export function asInt32s(value: WireJson | undefined, where: string): Int32Array {
  const list = asList(value, where);
  const out = new Int32Array(list.length);
  for (let i = 0; i < list.length; i++) out[i] = asInt32(list[i], `${where}[${i}]`);
  return out;
}

/** `null` is NaN: JSON has no other way to say it. */
export function asFloat32s(value: WireJson | undefined, where: string): Float32Array {
  const list = asList(value, where);
  const out = new Float32Array(list.length);
  for (let i = 0; i < list.length; i++) out[i] = list[i] === null ? NaN : asNumber(list[i], `${where}[${i}]`);
  return out;
}

export function asDoubles(value: WireJson | undefined, where: string): Float64Array {
  const list = asList(value, where);
  const out = new Float64Array(list.length);
  for (let i = 0; i < list.length; i++) out[i] = asInteger(list[i], `${where}[${i}]`);
  return out;
}

/** `read` of a value that is there. */
export function optional<T>(
  value: WireJson | undefined,
  where: string,
  read: (value: WireJson, where: string) => T,
): T | undefined {
  return value === undefined || value === null ? undefined : read(value, where);
}

/** An object without the keys whose value is undefined. */
export function present<T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function wrong(where: string, wanted: string, value: WireJson | undefined): Error {
  const text =
    typeof value === 'object' && value !== null ? (Array.isArray(value) ? 'a list' : 'an object') : String(value);
  return malformed(where, `expected ${wanted}, got ${text.length > 40 ? `${text.slice(0, 40)}...` : text}`);
}
