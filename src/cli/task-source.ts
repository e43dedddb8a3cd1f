// Where rows of tasks and problems come from: a file or folder of this machine, or `hf:<owner>/<dataset>/<path>`, one file
// of a data set on the hub, by its branch `main` or `@<revision>` after the data set's name.

import { TabwrightError } from '../core/index.ts';
import { createHubClient } from '../engine/index.ts';
import { parseRows, readRows, type FileRows } from '../envs/index.ts';

export type OpenRowsOptions = {
  readonly signal: AbortSignal;
  /** HF_ENDPOINT, and HF_TOKEN for data sets that ask for one. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

const HUB = 'hf:';
/** Of one file; the whole of it is held in memory. */
const MAX_BYTES = 400 << 20;

export async function openRows(source: string, { signal, environment }: OpenRowsOptions): Promise<FileRows> {
  if (!source.startsWith(HUB)) return readRows(source, { signal });
  const match = /^hf:([\w.-]+\/[\w.-]+)(?:@([\w./-]+?))?\/(.+)$/u.exec(source);
  if (match === null) {
    throw new TabwrightError(
      'config',
      `${source} is no file of a data set: write hf:<owner>/<dataset>/<path of the file>.`,
      {
        code: 'bad-task-source',
        details: { source },
      },
    );
  }
  const [, dataset, revision = 'main', file] = match;
  const endpoint = (environment['HF_ENDPOINT'] ?? '').replace(/\/+$/u, '') || 'https://huggingface.co';
  const token = environment['HF_TOKEN'];
  const repo = `datasets/${dataset}`;
  const client = createHubClient({ endpoint, repo, signal, ...(token === undefined || token === '' ? {} : { token }) });
  const response = await client.openFile({ repo, commit: revision, file, from: 0, signal });
  return parseRows(file.split('/').at(-1) ?? file, await bounded(response, source));
}

async function bounded(response: Response, source: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    if (bytes > MAX_BYTES) {
      throw new TabwrightError('config', `${source} is larger than ${MAX_BYTES >> 20} MiB: download and divide it.`, {
        code: 'file-too-large',
        details: { source },
      });
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}
