// Checkpoints in a folder: `<run>/run.json`, and of each checkpoint a record and a folder with its content. The record is
// written last and is what counts: content without one was left by a server that was killed, and is removed at the start.
// Whatever changes a checkpoint has its turn by name, so that what expires cannot take along what is saved meanwhile.

import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { TabwrightError } from '../../core/index.ts';
import { makeFolder, writeFileAtomic } from '../../util/index.ts';
import { checkpointRecord, runRecord, type CheckpointRecord, type RunRecord } from './checkpoint-records.ts';
import { CHECKPOINT_KINDS, formatPath, type CheckpointKind, type CheckpointPath } from './names.ts';
import { KeyedTurns } from './keyed-turns.ts';
import { refusal, userFault } from './refusals.ts';

export type StoredCheckpoint = {
  readonly run: RunRecord;
  readonly record: CheckpointRecord;
  /** Where the content is. */
  readonly folder: string;
};

export type SaveOptions = {
  readonly runId: string;
  readonly kind: CheckpointKind;
  readonly name: string;
  /** See `CheckpointRecord.content`. */
  readonly content: string;
  readonly overwrite: boolean;
  readonly ttlSeconds?: number | undefined;
  readonly userMetadata?: Readonly<Record<string, string>> | undefined;
  /** Fills the folder, which does not exist yet. */
  readonly write: (folder: string) => Promise<void>;
};

type Run = { record: RunRecord; lastRequestAt: Date; readonly checkpoints: Map<string, CheckpointRecord> };

const RUN_FILE = 'run.json';

export class CheckpointStore {
  readonly #root: string;
  readonly #now: () => number;
  readonly #runs = new Map<string, Run>();
  readonly #turns = new KeyedTurns();

  private constructor(root: string, now: () => number) {
    this.#root = root;
    this.#now = now;
  }

  /** Reads what is there. `now` gives the time of day in milliseconds. */
  static async open(root: string, now: () => number = Date.now): Promise<CheckpointStore> {
    const store = new CheckpointStore(root, now);
    await makeFolder(root);
    for (const entry of await readdir(root, { withFileTypes: true })) {
      if (entry.isDirectory()) await store.#readRun(join(root, entry.name));
    }
    return store;
  }

  get runs(): readonly RunRecord[] {
    return [...this.#runs.values()].map(({ record }) => record);
  }

  /** A run that is there already keeps its checkpoints. */
  async addRun(record: RunRecord): Promise<void> {
    await makeFolder(this.#runFolder(record.runId));
    await writeFileAtomic(join(this.#runFolder(record.runId), RUN_FILE), `${JSON.stringify(record, null, 2)}\n`);
    const checkpoints = this.#runs.get(record.runId)?.checkpoints ?? new Map<string, CheckpointRecord>();
    this.#runs.set(record.runId, { record, lastRequestAt: new Date(this.#now()), checkpoints });
  }

  /** Notes that the run was used. */
  touch(runId: string): void {
    const run = this.#runs.get(runId);
    if (run !== undefined) run.lastRequestAt = new Date(this.#now());
  }

  run(runId: string): { readonly record: RunRecord; readonly lastRequestAt: string } {
    const { record, lastRequestAt } = this.#run(runId);
    return { record, lastRequestAt: lastRequestAt.toISOString() };
  }

  /** Oldest first, those whose time is up left out; none of a run that has none or is not known. */
  list(runId: string): readonly CheckpointRecord[] {
    return [...(this.#runs.get(runId)?.checkpoints.values() ?? [])].filter((record) => !this.#isExpired(record));
  }

  find({ runId, kind, name }: CheckpointPath): StoredCheckpoint | undefined {
    const run = this.#runs.get(runId);
    const record = run?.checkpoints.get(`${kind}/${name}`);
    if (run === undefined || record === undefined || this.#isExpired(record)) return undefined;
    return { run: run.record, record, folder: join(this.#runFolder(runId), kind, record.folder) };
  }

  get(path: CheckpointPath): StoredCheckpoint {
    const found = this.find(path);
    if (found !== undefined) return found;
    throw refusal('not-found', `There is no checkpoint ${formatPath(path)}; it may have been deleted or have expired.`);
  }

  /**
   * Runs `work` on the content. It is never rewritten, but removed when its name is saved anew, deleted or expires: work
   * that fails because of that fails with these words.
   */
  async reading<T>(stored: StoredCheckpoint, work: (folder: string) => Promise<T>): Promise<T> {
    try {
      return await work(stored.folder);
    } catch (error) {
      const path = { runId: stored.run.runId, kind: stored.record.kind, name: stored.record.name };
      if (this.find(path)?.record.folder === stored.record.folder) throw error;
      throw userFault(
        `The weights that ${formatPath(path)} stood for when it was named are gone: it was saved anew, was deleted or has expired. Name it again, or save what is needed for longer under a name of its own.`,
      );
    }
  }

  save(options: SaveOptions): Promise<StoredCheckpoint> {
    return this.#turn(options, () => this.#save(options));
  }

  async #save(options: SaveOptions): Promise<StoredCheckpoint> {
    const { runId, kind, name, content, overwrite, ttlSeconds, userMetadata } = options;
    const run = this.#run(runId);
    const old = this.find({ runId, kind, name });
    if (old?.record.content === content) return this.#again(old, options);
    if (old !== undefined && !overwrite) {
      const path = formatPath({ runId, kind, name });
      throw userFault(`path ${path} exists with other weights; save under another name or with overwrite=true.`);
    }
    const before = run.checkpoints.get(`${kind}/${name}`); // also one that has expired
    const parent = join(this.#runFolder(runId), kind);
    await makeFolder(parent);
    const folder = `${name}.${randomBytes(4).toString('hex')}`;
    try {
      await options.write(join(parent, folder));
      const now = this.#now();
      await this.#keep(runId, {
        version: 1,
        kind,
        name,
        folder,
        time: new Date(now).toISOString(),
        content,
        sizeBytes: await sizeOf(join(parent, folder)),
        public: false,
        ...(ttlSeconds === undefined ? {} : { expiresAt: new Date(now + ttlSeconds * 1000).toISOString() }),
        ...(userMetadata === undefined ? {} : { userMetadata }),
      });
    } catch (error) {
      await rm(join(parent, folder), { recursive: true, force: true }).catch(() => undefined); // the first failure counts
      throw error;
    }
    if (before !== undefined) await rm(join(parent, before.folder), { recursive: true, force: true });
    return this.get({ runId, kind, name });
  }

  /** The same weights under the same name: what this request says of their time and notes holds, the weights stay. */
  async #again(
    old: StoredCheckpoint,
    { runId, kind, name, ttlSeconds, userMetadata }: SaveOptions,
  ): Promise<StoredCheckpoint> {
    const { expiresAt, userMetadata: noted, ...kept } = old.record;
    if (ttlSeconds === undefined && expiresAt === undefined && userMetadata === undefined && noted === undefined)
      return old;
    await this.#keep(runId, {
      ...kept,
      ...(ttlSeconds === undefined ? {} : { expiresAt: new Date(this.#now() + ttlSeconds * 1000).toISOString() }),
      ...(userMetadata === undefined ? {} : { userMetadata }),
    });
    return this.get({ runId, kind, name });
  }

  setTtl(path: CheckpointPath, ttlSeconds: number | null): Promise<void> {
    return this.#turn(path, async () => {
      const { expiresAt: _, ...kept } = this.get(path).record;
      const expiresAt = ttlSeconds === null ? undefined : new Date(this.#now() + ttlSeconds * 1000).toISOString();
      await this.#keep(path.runId, { ...kept, ...(expiresAt === undefined ? {} : { expiresAt }) });
    });
  }

  setPublic(path: CheckpointPath, isPublic: boolean): Promise<void> {
    return this.#turn(path, () => this.#keep(path.runId, { ...this.get(path).record, public: isPublic }));
  }

  delete(path: CheckpointPath): Promise<void> {
    return this.#turn(path, () => this.#remove(this.get(path)));
  }

  /** Deletes what has expired. */
  async sweep(): Promise<void> {
    for (const [runId, { record: run, checkpoints }] of this.#runs) {
      for (const { kind, name } of [...checkpoints.values()].filter((record) => this.#isExpired(record))) {
        await this.#turn({ runId, kind, name }, async () => {
          // Looked up anew: while it waited for its turn it may have been saved again or given more time.
          const record = checkpoints.get(`${kind}/${name}`);
          if (record === undefined || !this.#isExpired(record)) return;
          await this.#remove({ run, record, folder: join(this.#runFolder(runId), kind, record.folder) });
        });
      }
    }
  }

  #turn<T>({ runId, kind, name }: CheckpointPath, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(`${runId}/${kind}/${name}`, work);
  }

  /** The record goes first: what is left of a removal that was cut short is content without one. */
  async #remove({ run, record, folder }: StoredCheckpoint): Promise<void> {
    this.#runs.get(run.runId)?.checkpoints.delete(`${record.kind}/${record.name}`);
    await rm(this.#recordFile(run.runId, record), { force: true });
    await rm(folder, { recursive: true, force: true });
  }

  async #keep(runId: string, record: CheckpointRecord): Promise<void> {
    await writeFileAtomic(this.#recordFile(runId, record), `${JSON.stringify(record, null, 2)}\n`);
    const { checkpoints } = this.#run(runId);
    if (checkpoints.get(`${record.kind}/${record.name}`)?.folder !== record.folder) {
      checkpoints.delete(`${record.kind}/${record.name}`); // so that the newest is last
    }
    checkpoints.set(`${record.kind}/${record.name}`, record);
  }

  async #readRun(folder: string): Promise<void> {
    const record = await readRecord(join(folder, RUN_FILE), runRecord);
    if (record === undefined) return;
    const checkpoints: CheckpointRecord[] = [];
    for (const kind of CHECKPOINT_KINDS) {
      const names = await readdir(join(folder, kind)).catch(() => []);
      const records = names.filter((name) => name.endsWith('.json'));
      const found = await Promise.all(records.map((name) => readRecord(join(folder, kind, name), checkpointRecord)));
      const kept = found.filter((one) => one !== undefined);
      checkpoints.push(...kept);
      const known = new Set([...records, ...kept.map((one) => one.folder)]);
      for (const name of names) if (!known.has(name)) await rm(join(folder, kind, name), { recursive: true });
    }
    checkpoints.sort((a, b) => (a.time < b.time ? -1 : 1));
    this.#runs.set(record.runId, {
      record,
      lastRequestAt: new Date(checkpoints.at(-1)?.time ?? record.createdAt),
      checkpoints: new Map(checkpoints.map((one) => [`${one.kind}/${one.name}`, one])),
    });
  }

  #run(runId: string): Run {
    const run = this.#runs.get(runId);
    if (run === undefined) throw refusal('not-found', `There is no training run ${JSON.stringify(runId)}.`);
    return run;
  }

  #isExpired({ expiresAt }: CheckpointRecord): boolean {
    return expiresAt !== undefined && Date.parse(expiresAt) <= this.#now();
  }

  #runFolder(runId: string): string {
    return join(this.#root, encodeURIComponent(runId)); // a colon is no part of a file's name on every system
  }

  #recordFile(runId: string, { kind, name }: CheckpointRecord): string {
    return join(this.#runFolder(runId), kind, `${name}.json`);
  }
}

async function readRecord<T extends z.ZodType>(file: string, schema: T): Promise<z.infer<T> | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new TabwrightError('store', `${file} is no record of this server's: move it away, or restore it.`, {
      code: 'bad-checkpoint-record',
      details: { file },
      cause: error,
    });
  }
}

/** Bytes of the files in a folder; 0 where a backend keeps its checkpoints elsewhere. */
async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
