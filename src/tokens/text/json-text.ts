// JSON read without losing anything that a prompt would show: number literals stay as they were written (1.0, 1e-07,
// 2^60), keys keep their order, also those that look like integers. Not a replacement for JSON.parse where values
// are wanted.

import type { JsonObject, JsonValue } from '../../core/index.ts';

export type JsonText =
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, JsonText])[] }
  | { readonly kind: 'array'; readonly items: readonly JsonText[] }
  | { readonly kind: 'string'; readonly value: string }
  /** A number as it was written, or true, false, null. */
  | { readonly kind: 'literal'; readonly text: string };

export type JsonObjectText = Extract<JsonText, { readonly kind: 'object' }>;

export type JsonReading = { readonly node: JsonText } | { readonly problem: string };

/** Deeper nesting is refused: what a model wrote must not overflow the stack. */
const MAX_DEPTH = 100;

const LITERAL = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
// Every character of a string but its end: control characters must be escaped, as the standard has it.

const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const BLANK = /[ \t\n\r]*/y;

class JsonProblem extends Error {}

/** Reads exactly one JSON value; what is wrong comes back as words for a model or a person. */
export function readJson(text: string): JsonReading {
  try {
    const reader = new Reader(text);
    const node = reader.value(0);
    reader.end();
    return { node };
  } catch (error) {
    if (error instanceof JsonProblem) return { problem: error.message };
    throw error;
  }
}

class Reader {
  private position = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  value(depth: number): JsonText {
    if (depth > MAX_DEPTH) throw this.problem(`is nested deeper than ${MAX_DEPTH}`);
    this.take(BLANK);
    const character = this.text[this.position];
    if (character === '{') return this.object(depth);
    if (character === '[') return this.array(depth);
    if (character === '"') return { kind: 'string', value: this.string() };
    const literal = this.take(LITERAL);
    if (literal === undefined) throw this.unexpected('a value');
    return { kind: 'literal', text: literal };
  }

  end(): void {
    this.take(BLANK);
    if (this.position < this.text.length) throw this.unexpected('its end');
  }

  private object(depth: number): JsonText {
    const entries: [string, JsonText][] = [];
    this.position += 1;
    this.take(BLANK);
    if (this.accept('}')) return { kind: 'object', entries };
    do {
      this.take(BLANK);
      const key = this.string();
      this.take(BLANK);
      if (!this.accept(':')) throw this.unexpected('":"');
      entries.push([key, this.value(depth + 1)]);
      this.take(BLANK);
    } while (this.accept(','));
    if (!this.accept('}')) throw this.unexpected('"," or "}"');
    return { kind: 'object', entries };
  }

  private array(depth: number): JsonText {
    const items: JsonText[] = [];
    this.position += 1;
    this.take(BLANK);
    if (this.accept(']')) return { kind: 'array', items };
    do {
      items.push(this.value(depth + 1));
      this.take(BLANK);
    } while (this.accept(','));
    if (!this.accept(']')) throw this.unexpected('"," or "]"');
    return { kind: 'array', items };
  }

  private string(): string {
    const quoted = this.take(STRING);
    if (quoted === undefined) throw this.unexpected('a string in double quotes');
    return JSON.parse(quoted) as string;
  }

  private accept(character: string): boolean {
    if (this.text[this.position] !== character) return false;
    this.position += 1;
    return true;
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text)?.[0];
    if (match !== undefined) this.position += match.length;
    return match;
  }

  private unexpected(wanted: string): JsonProblem {
    const found = this.position < this.text.length ? JSON.stringify(this.text[this.position]) : 'the end';
    return this.problem(`has ${found} at character ${this.position + 1} where ${wanted} should be`);
  }

  private problem(what: string): JsonProblem {
    return new JsonProblem(`the JSON ${what}`);
  }
}

/** A value as JSON text; numbers as Python writes them, since templates are Python's. */
export function toJsonText(value: JsonValue): JsonText {
  if (typeof value === 'string') return { kind: 'string', value };
  if (typeof value === 'number') return { kind: 'literal', text: pythonNumber(value) };
  if (value === null || typeof value === 'boolean') return { kind: 'literal', text: String(value) };
  if (Array.isArray(value)) return { kind: 'array', items: (value as readonly JsonValue[]).map(toJsonText) };
  const entries = Object.entries(value as JsonObject).map(([key, entry]) => [key, toJsonText(entry)] as const);
  return { kind: 'object', entries };
}

/** As JSON.parse would have read it. */
export function toJsonValue(node: JsonText): JsonValue {
  switch (node.kind) {
    case 'string':
      return node.value;
    case 'literal':
      return JSON.parse(node.text) as JsonValue;
    case 'array':
      return node.items.map(toJsonValue);
    case 'object':
      // Not by assignment: a model may name a key __proto__.
      return Object.fromEntries(node.entries.map(([key, value]) => [key, toJsonValue(value)]));
  }
}

/** A double as Python's `repr` writes it; integers without a point. */
function pythonNumber(value: number): string {
  if (Number.isInteger(value)) return Math.abs(value) < 1e21 ? BigInt(value).toString() : String(value);
  const text = Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
  return text.replace(/e-(\d)$/, 'e-0$1');
}

export type WriteJsonOptions = {
  /** Spaces a level; without it everything is one line with `, ` and `: `, as Python's json.dumps has it. */
  readonly indent?: number;
};

/** JSON as Python's json.dumps writes it with ensure_ascii false. */
export function writeJson(node: JsonText, { indent }: WriteJsonOptions = {}, depth = 0): string {
  if (node.kind === 'string') return JSON.stringify(node.value);
  if (node.kind === 'literal') return node.text;
  const parts =
    node.kind === 'array'
      ? node.items.map((item) => writeJson(item, indent === undefined ? {} : { indent }, depth + 1))
      : node.entries.map(
          ([key, value]) =>
            `${JSON.stringify(key)}: ${writeJson(value, indent === undefined ? {} : { indent }, depth + 1)}`,
        );
  const [open, close] = node.kind === 'array' ? ['[', ']'] : ['{', '}'];
  if (indent === undefined || parts.length === 0) return `${open}${parts.join(', ')}${close}`;
  const margin = ' '.repeat(indent * (depth + 1));
  return `${open}\n${parts.map((part) => margin + part).join(',\n')}\n${' '.repeat(indent * depth)}${close}`;
}
