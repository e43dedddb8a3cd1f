// Values with a type, as WebArena-Verified compares them: two spellings of one date, amount or duration are equal. What
// cannot be read as its type equals nothing. Pure; the types are named by `type` or `format` of a JSON schema.

import type { JsonObject, JsonValue } from '../../../core/index.ts';
import { readNumber, sameNumber, type ExactNumber } from '../../math/number.ts';
import { dateOf, distanceOf, durationOf } from './quantities.ts';
import { foldedText } from './plain-text.ts';

type Compare = (expected: JsonValue, actual: JsonValue) => boolean;

/** What is looked at of a JSON schema. */
type ValueSchema = {
  readonly type?: string;
  readonly format?: string;
  readonly items?: JsonObject;
  readonly properties?: Readonly<Record<string, JsonObject>>;
};

/** Degrees; about ten metres. */
const PLACE_TOLERANCE = 1e-4;

const byKey =
  (keyOf: (text: string) => string | number | undefined): Compare =>
  (expected, actual) => {
    const [a, b] = [scalar(expected), scalar(actual)].map((text) => (text === undefined ? undefined : keyOf(text)));
    return a !== undefined && a === b;
  };
const byNumber =
  (read: (text: string) => ExactNumber | undefined): Compare =>
  (expected, actual) => {
    const [a, b] = [scalar(expected), scalar(actual)].map((text) => (text === undefined ? undefined : read(text)));
    return a !== undefined && b !== undefined && sameNumber(a, b);
  };

const TYPES: Readonly<Record<string, Compare>> = {
  string: (expected, actual) => {
    const pattern = patternOf(scalar(expected) ?? '');
    if (pattern === undefined) return byKey(foldedText)(expected, actual);
    const text = scalar(actual);
    return text !== undefined && pattern.test(text.trim());
  },
  number: byNumber(readNumber),
  integer: byNumber(readNumber),
  boolean: byKey(booleanOf),
  null: (expected, actual) => isEmpty(expected) && isEmpty(actual),
  date: byKey(dateOf),
  duration: byNumber(durationOf),
  distance: byNumber(distanceOf),
  currency: (expected, actual) => {
    const [a, b] = [scalar(expected), scalar(actual)].map(amountOf);
    if (a === undefined || b === undefined || !sameNumber(a.value, b.value)) return false;
    return a.currency === b.currency || a.currency === '' || b.currency === '';
  },
  url: byKey(addressOf),
  full_address: byKey((text) => foldedText(text).replaceAll(/[.,]/gu, '').replaceAll(/\s+/gu, ' ')),
  coordinates: (expected, actual) => {
    const [a, b] = [placeOf(expected), placeOf(actual)];
    return a !== undefined && b !== undefined && a.every((angle, i) => Math.abs(angle - b[i]) <= PLACE_TOLERANCE);
  },
};

export const KNOWN_TYPES: ReadonlySet<string> = new Set(Object.keys(TYPES));

/** `schema` may be that of an object or a list; an expected value that is a list where none is due holds alternatives. */
export function sameTyped(expected: JsonValue, actual: JsonValue | undefined, schema: JsonObject): boolean {
  const { type, format, items = {}, properties = {} } = schema as ValueSchema;
  if (type === 'array' && Array.isArray(expected)) {
    return Array.isArray(actual) && sameList(expected, actual, items, false);
  }
  if (Array.isArray(expected)) return expected.some((one: JsonValue) => sameTyped(one, actual, schema));
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return false;
    return Object.entries(expected as JsonObject).every(([key, value]) =>
      sameTyped(value, (actual as JsonObject)[key], properties[key] ?? {}),
    );
  }
  if (isEmpty(expected)) return isEmpty(actual);
  if (actual === undefined || actual === null) return false;
  return TYPES[format ?? type ?? typeName(expected)](expected, actual);
}

/** Without an order: a pairing of all with all is looked for, since one value may meet several that hold alternatives. */
export function sameList(
  expected: readonly JsonValue[],
  actual: readonly JsonValue[],
  items: JsonObject,
  ordered: boolean,
): boolean {
  if (expected.length !== actual.length) return false;
  const fits = (i: number, j: number): boolean => sameTyped(expected[i], actual[j], items);
  if (ordered) return expected.every((_, i) => fits(i, i));
  const takenBy = new Array<number>(actual.length).fill(-1);
  const place = (i: number, tried: Set<number>): boolean =>
    actual.some((_, j) => {
      if (tried.has(j) || !fits(i, j)) return false;
      tried.add(j);
      if (takenBy[j] !== -1 && !place(takenBy[j], tried)) return false;
      takenBy[j] = i;
      return true;
    });
  return expected.every((_, i) => place(i, new Set()));
}

export function isEmpty(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

export function isPattern(text: string): boolean {
  return text.length > 2 && text.startsWith('^') && text.endsWith('$');
}

/** Undefined for what is none, or only looks like one: that is compared as it stands. */
function patternOf(text: string): RegExp | undefined {
  if (!isPattern(text)) return undefined;
  for (const flags of ['isu', 'is']) {
    try {
      return new RegExp(text, flags);
    } catch {
      // Written for another language's expressions; the looser reading is tried next.
    }
  }
  return undefined;
}

function typeName(value: JsonValue): string {
  return typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'string';
}

function scalar(value: JsonValue): string | undefined {
  return typeof value === 'object' ? undefined : String(value);
}

function booleanOf(text: string): string | undefined {
  const plain = foldedText(text);
  if (['true', 'yes', '1', 'y', 'on'].includes(plain)) return 'true';
  return ['false', 'no', '0', 'n', 'off'].includes(plain) ? 'false' : undefined;
}

function amountOf(text: string | undefined): { value: ExactNumber; currency: string } | undefined {
  const match = /^([+-]?)\s*(us\$|[$€£¥]|usd|eur|gbp|jpy)?\s*([+-]?[\d.,]+)\s*(usd|eur|gbp|jpy|[$€£¥])?$/u.exec(
    foldedText(text ?? ''),
  );
  const value = match === null ? undefined : readNumber(match[1] + match[3]);
  if (match === null || value === undefined) return undefined;
  const sign = match[2] ?? match[4] ?? '';
  return { value, currency: { us$: 'usd', $: 'usd', '€': 'eur', '£': 'gbp', '¥': 'jpy' }[sign] ?? sign };
}

function addressOf(text: string): string | undefined {
  if (!URL.canParse(text)) return foldedText(text).replace(/\/+$/u, '');
  const url = new URL(text);
  url.searchParams.sort();
  return `${url.host}${url.pathname.replace(/\/+$/u, '')}${url.search}`.toLowerCase();
}

function placeOf(value: JsonValue): readonly [number, number] | undefined {
  const { latitude, lat = latitude, longitude, lon = longitude, lng = lon } = (value ?? {}) as Record<string, unknown>;
  const parts = typeof value === 'string' ? value.split(/[,;]\s*/u) : Array.isArray(value) ? value : [lat, lng];
  const [north, east] = parts.map((part: unknown) => (part === undefined || part === '' ? NaN : Number(part)));
  return parts.length === 2 && Number.isFinite(north) && Number.isFinite(east) ? [north, east] : undefined;
}
