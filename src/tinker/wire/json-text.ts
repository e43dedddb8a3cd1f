// JSON text to values and back, for peers whose numbers have 64 bits: whole numbers beyond 2^53 come out as bigint
// instead of being rounded. Bounded in size, parts and depth. NaN and Infinity are no JSON and are refused.

import { DEFAULT_LIMITS, type DecodeLimits } from './limits.ts';
import { malformed, tooLarge, unsendable } from './wire-error.ts';

export type WireJson =
  null | boolean | number | bigint | string | readonly WireJson[] | { readonly [key: string]: WireJson | undefined };

export function parseJson(source: string | Uint8Array, limits: DecodeLimits = DEFAULT_LIMITS): WireJson {
  const text = textOf(source, limits);
  return parseText(text, scan(text, limits));
}

/** For messages that have no 64-bit numbers: every number is a `number`. */
export function parsePlainJson(source: string | Uint8Array, limits: DecodeLimits = DEFAULT_LIMITS): WireJson {
  const text = textOf(source, limits);
  scan(text, limits);
  return parseText(text, []);
}

/** Bigints become whole numbers of as many digits as they need; numbers that are not finite are refused. */
export function formatJson(value: WireJson | object): string {
  const marks = new Map<string, string>();
  const nonce = crypto.randomUUID();
  const text = JSON.stringify(value, (key, item: unknown) => {
    if (typeof item === 'bigint') {
      const mark = `${nonce}${marks.size}`;
      marks.set(`"${mark}"`, String(item));
      return mark;
    }
    if (typeof item === 'number' && !Number.isFinite(item)) throw unsendable(`"${key}"`, `${item} is no JSON number`);
    return item;
  });
  if (marks.size === 0) return text;
  return text.replaceAll(new RegExp(`"${nonce}\\d+"`, 'g'), (mark) => marks.get(mark)!);
}

function textOf(source: string | Uint8Array, { maxBytes }: DecodeLimits): string {
  if (source.length > maxBytes) throw tooLarge('bytes of a JSON message', source.length, maxBytes);
  return typeof source === 'string' ? source : decodeUtf8(source);
}

function parseText(text: string, long: readonly Range[]): WireJson {
  try {
    return long.length === 0 ? (JSON.parse(text) as WireJson) : parseWithBigints(text, long);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw malformed('a JSON message', /NaN|Infinity/.test(text) ? 'NaN and Infinity are no JSON' : 'it is no JSON');
  }
}

const DECODER = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return DECODER.decode(bytes);
  } catch {
    throw malformed('a JSON message', 'it is no UTF-8');
  }
}

type Range = readonly [start: number, end: number];

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Counts containers and finds whole numbers of 16 digits and more, in one pass that steps over strings. */
function scan(text: string, { maxParts, maxDepth }: DecodeLimits): readonly Range[] {
  const long: Range[] = [];
  let parts = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(text, i);
    } else if (code === 0x5b || code === 0x7b) {
      if (++parts > maxParts) throw tooLarge('parts of a JSON message', parts, maxParts);
      if (++depth > maxDepth) throw tooLarge('depth of a JSON message', depth, maxDepth);
    } else if (code === 0x5d || code === 0x7d) {
      depth--;
    } else if (code === 0x2d || isDigit(code)) {
      const start = i;
      while (isDigit(text.charCodeAt(i + 1))) i++;
      let whole = true;
      while (isNumberPart(text.charCodeAt(i + 1))) {
        whole = false;
        i++;
      }
      if (whole && i - start >= 15) long.push([start, i + 1]);
    }
  }
  return long;
}

/** Index of the closing quote of the string that opens at `open`, or the end of the text. */
function endOfString(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return close;
  }
  return text.length;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** What makes a number other than whole: . e E + - and digits after them. */
function isNumberPart(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === 0x2d;
}

/** Node 20 shows a reviver no source text, so long numbers travel through JSON.parse as marked strings. */
function parseWithBigints(text: string, ranges: readonly Range[]): WireJson {
  const mark = crypto.randomUUID();
  const pieces: string[] = [];
  let at = 0;
  for (const [start, end] of ranges) {
    const digits = text.slice(start, end);
    // What JSON would refuse (leading zeros) must go on being refused; more than 64 bits is nobody's number here.
    if (!/^-?[1-9]\d{0,19}$/.test(digits) || Number.isSafeInteger(Number(digits))) continue;
    pieces.push(text.slice(at, start), `"${mark}${digits}"`);
    at = end;
  }
  pieces.push(text.slice(at));
  return JSON.parse(pieces.join(''), (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  ) as WireJson;
}
