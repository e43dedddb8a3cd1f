// Formats that carry their version: an older one is upgraded step by step while it is read, a newer one is
// refused. Nothing on the disk is changed by reading it.

import type { z } from 'zod';
import { isJsonObject, TabwrightError, type JsonObject, type JsonValue } from '../core/index.ts';

/** A file format of the run folder. Its current version is one more than the number of its upgraders. */
export type VersionedFormat<T> = {
  /** Written into the file as `format`, so that a stray file is recognised as such. */
  readonly name: string;
  /** Entry i turns the content of version i + 1 into that of version i + 2. */
  readonly upgraders: readonly ((older: JsonObject) => JsonObject)[];
  /** Checks the content of the current version, `format` and `version` taken off. */
  readonly schema: z.ZodType<T>;
};

export function currentVersion(format: VersionedFormat<unknown>): number {
  return format.upgraders.length + 1;
}

/** `content` with its `format` and `version` in front, ready to be written. */
export function stamp<T extends JsonObject>(format: VersionedFormat<T>, content: T): JsonObject {
  return { format: format.name, version: currentVersion(format), ...content };
}

/** The content of `value` in the current version; `where` names the file (and line) in messages. */
export function readVersioned<T>(format: VersionedFormat<T>, value: JsonValue, where: string): T {
  if (!isJsonObject(value) || value.format !== format.name) {
    throw new TabwrightError('store', `${where} is not a ${format.name} file. Check the path.`, {
      code: 'wrong-format',
      details: { where, expected: format.name },
    });
  }
  const { format: _name, version, ...content } = value;
  const current = currentVersion(format);
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw corrupt(where, `its version is ${JSON.stringify(version)}, not a positive integer`);
  }
  if (version > current) {
    throw new TabwrightError(
      'store',
      `${where} has version ${version} of ${format.name}, and this program reads up to version ${current}. ` +
        'Update tabwright, or choose another folder with --out.',
      { code: 'newer-version', details: { where, found: version, supported: current } },
    );
  }
  const upgraded = format.upgraders.slice(version - 1).reduce<JsonObject>((older, upgrade) => upgrade(older), content);
  return parseWith(format.schema, upgraded, where);
}

/** `value` checked by `schema`; a mismatch names the place and the first fault. */
export function parseWith<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw corrupt(where, `${issue?.path.join('.') || 'the content'}: ${issue?.message ?? 'does not fit'}`);
}

export function corrupt(where: string, problem: string): TabwrightError {
  return new TabwrightError(
    'store',
    `${where} is damaged: ${problem}. Restore it from a copy, or start a new run with another --out.`,
    {
      code: 'corrupted-file',
      details: { where, problem },
    },
  );
}
