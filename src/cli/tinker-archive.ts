// A checkpoint of a Tinker server as its archive on this machine, for the length of one piece of work.

import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { TabwrightError } from '../core/index.ts';
import { findApiKey, ServiceClient } from '../tinker/index.ts';
import { withDeadline } from '../util/index.ts';
import { TINKER_URL } from './policy-model.ts';

export type WithArchiveOptions = {
  /** `tinker://<run>/sampler_weights/<name>`. */
  readonly path: string;
  /** Default `TINKER_BASE_URL`, then Tinker itself. */
  readonly baseUrl?: string | undefined;
  readonly signal: AbortSignal;
};

/** Some gigabytes at most. */
const FETCH_MS = 1_800_000;

export async function withTinkerArchive<T>(
  { path, baseUrl = process.env['TINKER_BASE_URL'] || TINKER_URL, signal }: WithArchiveOptions,
  work: (archive: string) => Promise<T>,
): Promise<T> {
  const service = await ServiceClient.connect({
    baseUrl,
    apiKey: findApiKey({ baseUrl }),
    signal,
    onNotice: () => undefined,
  });
  const folder = await mkdtemp(join(tmpdir(), 'tabwright-archive-'));
  try {
    const { url } = await service.rest.archiveUrl(path, signal);
    const archive = join(folder, 'checkpoint.tar.gz');
    const refused = (reason: string): TabwrightError =>
      new TabwrightError('backend', `The archive of ${path} cannot be fetched: ${reason}.`, {
        code: 'archive-not-fetched',
        details: { path },
        retryable: true,
      });
    const onExpiry = (): Error => refused(`it did not come within ${FETCH_MS / 60_000} minutes`);
    await withDeadline({ ms: FETCH_MS, signal, onExpiry }, async (inner) => {
      // The address itself is the permission: no key goes with it.
      const response = await fetch(url, { signal: inner });
      if (!response.ok || response.body === null) throw refused(`status ${response.status}`);
      await pipeline(Readable.fromWeb(response.body), createWriteStream(archive), { signal: inner });
    });
    return await work(archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await service.close();
  }
}
