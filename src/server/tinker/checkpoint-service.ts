// What is saved of models: states to go on from, weights to sample from, adapters for other programs; and the addresses
// from which they can be fetched without a key for a while.

import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../util/index.ts';
import type { CheckpointStore, StoredCheckpoint } from './checkpoint-store.ts';
import { checkName, formatPath, type CheckpointKind, type CheckpointPath } from './names.ts';
import { refusal, userFault } from './refusals.ts';
import type { Result } from './results.ts';
import type { ServedModels } from './served-model.ts';
import { json } from './service-parts.ts';
import type { TrainingModel } from './training-model.ts';

export type SaveRequest = {
  readonly kind: CheckpointKind;
  readonly name: string;
  readonly overwrite: boolean;
  readonly ttlSeconds: number | undefined;
  readonly userMetadata: Readonly<Record<string, string>> | undefined;
};

export type Download = {
  readonly folder: string;
  /** Name of the archive, or of nothing where single files are fetched. */
  readonly name: string;
  readonly expiresAt: Date;
};

const DOWNLOAD_MS = 15 * 60_000;
const TYPES = {
  weights: 'save_weights',
  sampler_weights: 'save_weights_for_sampler',
  external_weights: 'save_weights_external',
} as const;

export class CheckpointService {
  readonly #store: CheckpointStore;
  readonly #models: ServedModels;
  /** Where adapters are made for archives; emptied when the server ends. */
  readonly #exports: string;
  readonly #downloads = new Map<string, Download>();
  readonly #exported = new Map<string, Promise<string>>();

  constructor(store: CheckpointStore, models: ServedModels, exports: string) {
    this.#store = store;
    this.#models = models;
    this.#exports = exports;
  }

  async save(model: TrainingModel, request: SaveRequest): Promise<Result> {
    const { kind, name, ttlSeconds } = request;
    checkName(name);
    if (ttlSeconds !== undefined && !(ttlSeconds >= 1)) {
      throw userFault(`ttl_seconds is ${ttlSeconds}; it must be a whole number of at least 1.`);
    }
    await this.#store.save({
      ...request,
      runId: model.id,
      content: model.content,
      write: (folder) => this.#write(model, kind, folder),
    });
    return json({ type: TYPES[kind], path: formatPath({ runId: model.id, kind, name }) });
  }

  /** A token under which the files of a PEFT folder of this checkpoint can be fetched. */
  async offer(path: CheckpointPath): Promise<{ token: string; download: Download; files: readonly string[] }> {
    const stored = this.#store.get(path);
    const folder = stored.record.kind === 'external_weights' ? stored.folder : await this.#export(stored);
    const token = randomBytes(24).toString('base64url');
    const name = `${path.kind}-${path.name}`;
    const download = { folder, name, expiresAt: new Date(Date.now() + DOWNLOAD_MS) };
    this.#downloads.set(token, download);
    return { token, download, files: await readdir(folder) };
  }

  download(token: string): Download {
    const found = this.#downloads.get(token);
    if (found !== undefined && found.expiresAt.getTime() > Date.now()) return found;
    throw refusal('not-found', 'This address has expired; ask for a new one.');
  }

  sweep(): void {
    for (const [token, { expiresAt }] of this.#downloads) {
      if (expiresAt.getTime() <= Date.now()) this.#downloads.delete(token);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#downloads.clear();
    await Promise.allSettled(this.#exported.values());
    await rm(this.#exports, { recursive: true, force: true });
  }

  async #write(model: TrainingModel, kind: CheckpointKind, folder: string): Promise<void> {
    if (kind === 'weights') return model.saveState(folder);
    if (kind === 'sampler_weights') return model.saveForSampler(folder);
    const { exportAdapter } = model.served;
    checkExport(model.lora !== undefined, exportAdapter !== undefined, model.baseModel);
    await makeFolder(this.#exports);
    const state = join(this.#exports, randomBytes(8).toString('hex'));
    try {
      await model.saveState(state);
      await exportAdapter!(state, folder, model.baseModel);
    } finally {
      await rm(state, { recursive: true, force: true });
    }
  }

  /** Made once of each content. */
  #export(stored: StoredCheckpoint): Promise<string> {
    const { run, record } = stored;
    const { exportAdapter } = this.#models.get(run.baseModel);
    checkExport(run.lora !== undefined, exportAdapter !== undefined, run.baseModel);
    const key = `${encodeURIComponent(run.runId)}.${record.folder}`;
    let made = this.#exported.get(key);
    if (made === undefined) {
      const path = join(this.#exports, key);
      made = makeFolder(this.#exports)
        .then(() => this.#store.reading(stored, (folder) => exportAdapter!(folder, path, run.baseModel)))
        .then(() => path);
      this.#exported.set(key, made);
      made.catch(() => this.#exported.delete(key));
    }
    return made;
  }
}

function checkExport(isLora: boolean, known: boolean, baseModel: string): void {
  if (!isLora) throw userFault('This model was trained whole; only LoRA adapters have a PEFT form.');
  if (!known) throw userFault(`The adapters of ${baseModel} have no PEFT form.`);
}
