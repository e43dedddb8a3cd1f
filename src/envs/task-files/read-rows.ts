// Files of tasks as rows, whatever holds them: a JSON array, one JSON object, JSON Lines, Parquet, or a folder with one
// JSON object a file. It knows nothing of tasks. A line that is no JSON is a row that cannot be read, not the end.

import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { TabwrightError, type JsonValue } from '../../core/index.ts';
import { isParquet, readParquet } from './parquet.ts';

export type FileRow =
  | { readonly where: string; readonly value: JsonValue }
  /** Why it is no row. */
  | { readonly where: string; readonly unreadable: string };

export type RowContainer = 'json' | 'jsonl' | 'parquet' | 'folder';

export type FileRows = {
  /** For messages. */
  readonly name: string;
  readonly container: RowContainer;
  readonly rows: readonly FileRow[];
};

/** Text beyond it does not fit one string. */
const MAX_BYTES = 400 << 20;

/** `path` is a file or a folder; what is in a folder and does not end in .json is left alone. */
export async function readRows(path: string, { signal }: { readonly signal: AbortSignal }): Promise<FileRows> {
  let found: Awaited<ReturnType<typeof stat>>;
  try {
    found = await stat(path);
  } catch (cause) {
    throw new TabwrightError('config', `There is no file or folder ${path} to read tasks from.`, {
      code: 'no-task-file',
      details: { path },
      cause,
    });
  }
  if (!found.isDirectory()) return parseRows(basename(path), await readWhole(path, signal));
  const names = (await readdir(path)).filter((name) => name.endsWith('.json')).sort();
  if (names.length === 0) throw refuse(path, 'no-rows', 'the folder holds no .json files');
  const rows: FileRow[] = [];
  for (const name of names) {
    signal.throwIfAborted();
    rows.push(parseRow(name, decode(name, await readWhole(join(path, name), signal))));
  }
  return { name: basename(path), container: 'folder', rows };
}

/** `name` is for messages. */
export async function parseRows(name: string, bytes: Uint8Array): Promise<FileRows> {
  if (bytes.byteLength > MAX_BYTES) {
    throw refuse(name, 'file-too-large', `${bytes.byteLength} bytes; at most ${MAX_BYTES} are read, so divide it`);
  }
  if (isParquet(bytes)) {
    const values = await readParquet(name, bytes);
    return named(
      name,
      'parquet',
      values.map((value, index) => ({ where: `row ${index + 1}`, value })),
    );
  }
  const text = decode(name, bytes);
  const first = /\S/u.exec(text)?.[0];
  if (first === '[') return named(name, 'json', arrayRows(name, text));
  const lines = text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : [{ line, where: `line ${index + 1}` }]));
  if (lines.length > 1 && !isJson(lines[0].line) && isJson(text)) return named(name, 'json', [parseRow('row 1', text)]);
  return named(
    name,
    'jsonl',
    lines.map(({ line, where }) => parseRow(where, line)),
  );
}

function named(name: string, container: RowContainer, rows: readonly FileRow[]): FileRows {
  if (rows.length > 0) return { name, container, rows };
  throw refuse(name, 'no-rows', 'the file holds no rows');
}

function arrayRows(name: string, text: string): readonly FileRow[] {
  const row = parseRow(name, text);
  if ('unreadable' in row) throw refuse(name, 'bad-json', row.unreadable);
  return (row.value as readonly JsonValue[]).map((value, index) => ({ where: `row ${index + 1}`, value }));
}

function parseRow(where: string, text: string): FileRow {
  try {
    return { where, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { where, unreadable: `no JSON: ${(error as Error).message}` };
  }
}

function isJson(text: string): boolean {
  return 'value' in parseRow('', text);
}

async function readWhole(path: string, signal: AbortSignal): Promise<Uint8Array> {
  return readFile(path, { signal });
}

function decode(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new TabwrightError('config', `${name} is neither UTF-8 text nor Parquet; save it as one of the two.`, {
      code: 'not-text',
      details: { file: name },
      cause,
    });
  }
}

function refuse(name: string, code: string, problem: string): TabwrightError {
  return new TabwrightError('config', `${name}: ${problem}.`, { code, details: { file: name } });
}
