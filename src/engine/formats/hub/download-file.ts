// One file of a repository to a place on disk: from where an earlier try ended, never more bytes than were announced,
// checked before it gets its name. A connection that drops is taken up again while bytes keep coming.

import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { TabwrightError } from '../../../core/index.ts';
import { linkedController, sleep } from '../../../util/index.ts';
import { hubError, type HubClient } from './hub-client.ts';
import type { PlannedFile } from './hub-plan.ts';

export type DownloadOptions = {
  readonly client: HubClient;
  readonly repo: string;
  readonly commit: string;
  readonly file: PlannedFile;
  readonly partial: string;
  readonly path: string;
  /** A connection without a byte for so long counts as dropped. */
  readonly stallMs: number;
  /** Wait before the first repetition; doubled with each that brought nothing. */
  readonly backoffMs: number;
  readonly signal: AbortSignal;
  /** Bytes of this file that are there. */
  readonly onBytes: (bytes: number) => void;
};

/** Tries that bring no byte before it is given up. */
const MAX_FRUITLESS_TRIES = 4;

export async function downloadFile(options: DownloadOptions): Promise<void> {
  const { file, partial, path, signal, backoffMs } = options;
  let fruitless = 0;
  for (let have = await sizeOf(partial); have < file.bytes || have === 0;) {
    if (have > file.bytes) break;
    signal.throwIfAborted();
    try {
      await continueFile(options, have);
      if (file.bytes === 0) break;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TabwrightError) || !error.retryable) throw error;
      const now = await sizeOf(partial);
      fruitless = now > have ? 0 : fruitless + 1;
      if (fruitless >= MAX_FRUITLESS_TRIES) throw error;
      await sleep(backoffMs * 2 ** fruitless, signal);
    }
    have = await sizeOf(partial);
  }
  await verify(options);
  await rename(partial, path);
}

async function continueFile(options: DownloadOptions, have: number): Promise<void> {
  const { client, repo, commit, file, partial, stallMs, signal } = options;
  const { controller, unlink } = linkedController(signal);
  const stalled = (): TabwrightError =>
    hubError('download-stalled', `No byte of ${file.name} of ${repo} came for ${stallMs / 1000} s.`, { repo }, true);
  let timer = setTimeout(() => controller.abort(stalled()), stallMs);
  try {
    const response = await client.openFile({ repo, commit, file: file.name, from: have, signal: controller.signal });
    const from = startOf(response, have, options);
    const target = await open(partial, from === 0 ? 'w' : 'r+');
    try {
      let at = from;
      for await (const part of response.body ?? []) {
        clearTimeout(timer);
        timer = setTimeout(() => controller.abort(stalled()), stallMs);
        at = await append(target, part as Uint8Array, at, options);
        options.onBytes(at);
      }
      if (at < file.bytes) throw dropped(options, at);
    } finally {
      await target.close();
    }
  } catch (error) {
    if (error instanceof TabwrightError) throw error;
    if (controller.signal.aborted) throw controller.signal.reason;
    throw dropped(options, await sizeOf(partial), error);
  } finally {
    clearTimeout(timer);
    unlink();
    controller.abort();
  }
}

/** A server may ignore the wish for a part; then everything comes, and what is there is written over. */
function startOf(response: Response, wanted: number, { repo, file }: DownloadOptions): number {
  if (response.status !== 206) return 0;
  const range = response.headers.get('content-range') ?? '';
  if (Number(/^bytes (\d+)-/.exec(range)?.[1] ?? wanted) === wanted) return wanted;
  const message = `Asked for ${file.name} of ${repo} from byte ${wanted} on, the hub sent "${range}".`;
  throw hubError('hub-answer', message, { repo, file: file.name });
}

async function append(
  target: FileHandle,
  part: Uint8Array,
  at: number,
  { repo, file }: DownloadOptions,
): Promise<number> {
  if (at + part.length > file.bytes) {
    const message = `${file.name} of ${repo} is longer than the ${file.bytes} bytes that were announced; it is not taken.`;
    throw hubError('download-too-long', message, { repo, file: file.name });
  }
  for (let done = 0; done < part.length;) {
    done += (await target.write(part, done, part.length - done, at + done)).bytesWritten;
  }
  return at + part.length;
}

async function verify({ repo, file, partial, signal }: DownloadOptions): Promise<void> {
  const hash = hashFor(file);
  for await (const part of createReadStream(partial, { highWaterMark: 1 << 20, signal }))
    hash.update(part as Uint8Array);
  const found = hash.digest('hex');
  if (found === file.checksum.hex) return;
  await rm(partial, { force: true }); // taking it up again would only repeat the fault
  const message = `${file.name} of ${repo} has the checksum ${found}, expected ${file.checksum.hex}; it was thrown away. Fetch it again.`;
  throw hubError('checksum-mismatch', message, { repo, file: file.name }, true);
}

function hashFor({ checksum, bytes }: PlannedFile): Hash {
  if (checksum.kind === 'sha256') return createHash('sha256');
  return createHash('sha1').update(`blob ${bytes}\0`); // as git names its objects
}

function dropped({ repo, file }: DownloadOptions, at: number, cause?: unknown): TabwrightError {
  const message = `The connection dropped at byte ${at} of ${file.bytes} of ${file.name} of ${repo}; what came is kept, try again.`;
  return new TabwrightError('store', message, {
    code: 'download-dropped',
    details: { repo, file: file.name, at },
    retryable: true,
    cause,
  });
}

function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0, // nothing has come yet
  );
}
