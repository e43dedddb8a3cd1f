// Values on the way between a cell and its host, both ways. JSON cannot say `undefined`, `NaN`, `-0`, bigints, bytes or
// functions, and a REPL must; they travel as objects with one tag. No imports: this file also runs inside the cell.
// It is a notation, not a defence: whoever reads what a cell wrote checks its size and shape first.

/** What is on the wire: JSON. */
export type WireValue =
  null | boolean | number | string | readonly WireValue[] | { readonly [key: string]: WireValue | undefined };

/** A function crosses as its source text. */
export type FunctionSource = { readonly source: string };

export function isFunctionSource(value: unknown): value is FunctionSource {
  return value instanceof DecodedFunction;
}

class DecodedFunction implements FunctionSource {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** Deeper than any argument that a person writes, and far from the end of the stack. */
const MAX_DEPTH = 1000;

/** Throws `TypeError` for what has no notation: symbols, cycles, instances of classes, nesting beyond 1000. */
export function encodeValue(value: unknown): WireValue {
  return encode(value, []);
}

/** `above`: the objects around the value; grows and shrinks with the walk. */
function encode(value: unknown, above: object[]): WireValue {
  switch (typeof value) {
    case 'undefined':
      return { $undefined: true };
    case 'boolean':
    case 'string':
      return value;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $number: Object.is(value, -0) ? '-0' : `${value}` };
    case 'bigint':
      return { $bigint: value.toString() };
    case 'function':
      return { $function: Function.prototype.toString.call(value) };
    case 'symbol':
      throw new TypeError('a symbol cannot be passed on');
    default:
      return encodeObject(value as object | null, above);
  }
}

function encodeObject(value: object | null, above: object[]): WireValue {
  if (value === null) return null;
  if (above.includes(value)) throw new TypeError('a value that contains itself cannot be passed on');
  if (above.length >= MAX_DEPTH) throw new TypeError(`a value nested deeper than ${MAX_DEPTH} cannot be passed on`);
  if (value instanceof DecodedFunction) return { $function: value.source };
  if (ArrayBuffer.isView(value)) return bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (Object.prototype.toString.call(value) === '[object ArrayBuffer]')
    return bytes(new Uint8Array(value as ArrayBuffer));
  above.push(value);
  const encoded = Array.isArray(value)
    ? Array.from(value, (item) => encode(item, above))
    : encodeFields(value as Readonly<Record<string, unknown>>, above);
  above.pop();
  return encoded;
}

function encodeFields(value: Readonly<Record<string, unknown>>, above: object[]): WireValue {
  if (!isPlain(value)) throw new TypeError('an instance of a class cannot be passed on; pass its data');
  const keys = Object.keys(value);
  const plain: Record<string, WireValue> = {};
  for (const key of keys) setOwn(plain, key, encode(value[key], above));
  return keys.length === 1 && keys[0].startsWith('$') ? { $object: plain } : plain;
}

/** Snapshots have tens of thousands of objects: no list of entries for each. A key `__proto__` stays a key. */
function setOwn<T>(target: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Objects of any realm whose prototype is that realm's `Object.prototype`, or none. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf'))
  );
}

function bytes(array: Uint8Array): WireValue {
  return { $bytes: Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64') };
}

/** Functions come out as `FunctionSource`, bytes as `Buffer`. Throws `TypeError` on a malformed tag. */
export function decodeValue(value: WireValue): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(decodeValue);
  const keys = Object.keys(value);
  const tag = keys.length === 1 ? keys[0] : '';
  if (!tag.startsWith('$')) return decodeObject(value);
  const content = value[tag];
  if (tag === '$undefined') return undefined;
  if (tag === '$object' && typeof content === 'object' && content !== null && !isList(content))
    return decodeObject(content);
  if (typeof content === 'string') {
    if (tag === '$number' && /^(?:NaN|-?Infinity|-0)$/.test(content)) return Number(content);
    if (tag === '$bigint' && /^-?\d+$/.test(content)) return BigInt(content);
    if (tag === '$function') return new DecodedFunction(content);
    if (tag === '$bytes') return Buffer.from(content, 'base64');
  }
  throw new TypeError(`${tag.slice(0, 40)} is not a tag that values have`);
}

function decodeObject(value: { readonly [key: string]: WireValue | undefined }): Record<string, unknown> {
  const decoded: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(decoded, key, decodeValue(value[key] ?? null));
  return decoded;
}

function isList(value: object): value is readonly WireValue[] {
  return Array.isArray(value);
}
