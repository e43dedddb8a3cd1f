// A model of the Hugging Face hub as a folder on this machine: resolved to a commit, fetched once, checked file by
// file, and from then on there without a network. Nothing but safetensors and texts is taken.

import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { TabwrightError } from '../../../core/index.ts';
import { makeFolder } from '../../../util/index.ts';
import { downloadFile } from './download-file.ts';
import { isCommit, repoCache, type RepoCache } from './hub-cache.ts';
import { createHubClient, hubError, type HubClient } from './hub-client.ts';
import { DEFAULT_MAX_BYTES, MAX_LISTED_FILES, planDownload, type ListedFile, type PlannedFile } from './hub-plan.ts';

export type FetchModelOptions = {
  /** `owner/name`. */
  readonly repo: string;
  /** Branch, tag or commit. Default main. */
  readonly revision?: string;
  /** Folder of fetched models. */
  readonly cache: string;
  /** Default https://huggingface.co. */
  readonly endpoint?: string;
  readonly token?: string;
  /** Never asks the hub; what is not there is an error. Default false. */
  readonly offline?: boolean;
  /** Bytes of the largest model that is fetched. Default 64 GiB. */
  readonly maxBytes?: number;
  /** Milliseconds for an answer of the hub. Default 30,000. */
  readonly requestMs?: number;
  /** Milliseconds without a byte after which a connection counts as dropped. Default 60,000. */
  readonly stallMs?: number;
  /** Milliseconds before a dropped connection is taken up again. Default 1,000. */
  readonly backoffMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: FetchProgress) => void;
};

export type FetchProgress = {
  readonly file: string;
  /** Of all files, those of earlier tries included. */
  readonly bytes: number;
  readonly totalBytes: number;
};

export type FetchedModel = {
  readonly folder: string;
  readonly commit: string;
  /** Whether nothing had to be fetched. */
  readonly cached: boolean;
};

export async function fetchModel(options: FetchModelOptions): Promise<FetchedModel> {
  const { repo, revision = 'main', cache, offline = false, signal } = options;
  requireRepoName(repo);
  requireToken(options.token);
  const store = repoCache(cache, repo);
  if (isCommit(revision) || offline) {
    const commit = isCommit(revision) ? revision : await store.commitOf(revision);
    const folder = commit === undefined ? undefined : await store.complete(commit);
    if (folder !== undefined && commit !== undefined) return { folder, commit, cached: true };
    if (offline) throw notCached(repo, revision, cache);
  }
  const client = createHubClient({
    ...options,
    endpoint: (options.endpoint ?? 'https://huggingface.co').replace(/\/+$/, ''),
  });
  let commit: string;
  try {
    commit = await resolveCommit(client, repo, revision);
  } catch (error) {
    signal?.throwIfAborted();
    const known = isUnreachable(error) ? await store.commitOf(revision) : undefined;
    const folder = known === undefined ? undefined : await store.complete(known);
    if (folder === undefined || known === undefined) throw error;
    return { folder, commit: known, cached: true };
  }
  await store.remember(revision, commit);
  const there = await store.complete(commit);
  if (there !== undefined) return { folder: there, commit, cached: true };
  return { folder: await download(options, { client, store, commit }), commit, cached: false };
}

type Resolved = { readonly client: HubClient; readonly store: RepoCache; readonly commit: string };

async function download(options: FetchModelOptions, { client, store, commit }: Resolved): Promise<string> {
  const { repo, cache, maxBytes = DEFAULT_MAX_BYTES, stallMs = 60_000, backoffMs = 1000, onProgress } = options;
  const signal = options.signal ?? new AbortController().signal;
  const files = planDownload({ repo, files: await listRepo(client, repo, commit), maxBytes });
  await requireSpace(cache, repo, files);
  await using _lock = await store.lock();
  const folder = await store.begin(commit);
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const file of files) {
    const report = (bytes: number): void => onProgress?.({ file: file.name, bytes: done + bytes, totalBytes });
    await downloadFile({
      client,
      repo,
      commit,
      file,
      partial: store.partialPath(commit, file.name),
      path: join(folder, file.name),
      stallMs,
      backoffMs,
      signal,
      onBytes: report,
    });
    done += file.bytes;
    onProgress?.({ file: file.name, bytes: done, totalBytes });
  }
  await store.finish(commit, files);
  return folder;
}

async function resolveCommit(client: HubClient, repo: string, revision: string): Promise<string> {
  const { modelInfo } = await import('@huggingface/hub');
  const { sha } = await modelInfo({
    name: repo,
    revision,
    additionalFields: ['sha'],
    hubUrl: client.endpoint,
    fetch: client.fetch,
    ...(client.token === undefined ? {} : { accessToken: client.token }),
  });
  if (typeof sha === 'string' && isCommit(sha)) return sha;
  throw hubError('hub-answer', `The hub names no commit for ${repo}@${revision}.`, { repo, revision });
}

async function listRepo(client: HubClient, repo: string, commit: string): Promise<readonly ListedFile[]> {
  const { listFiles } = await import('@huggingface/hub');
  const files: ListedFile[] = [];
  const listed = listFiles({
    repo: { type: 'model', name: repo },
    revision: commit,
    recursive: true,
    hubUrl: client.endpoint,
    fetch: client.fetch,
    ...(client.token === undefined ? {} : { accessToken: client.token }),
  });
  for await (const { type, path, size, oid, lfs } of listed) {
    if (files.length === MAX_LISTED_FILES) {
      throw hubError('hostile-repository', `${repo} lists more than ${MAX_LISTED_FILES} files.`, { repo });
    }
    if (type === 'file') files.push({ path: String(path), size: lfs?.size ?? size, oid, sha256: lfs?.oid });
  }
  return files;
}

async function requireSpace(cache: string, repo: string, files: readonly PlannedFile[]): Promise<void> {
  await makeFolder(cache);
  const { bavail, bsize } = await statfs(cache);
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (needed <= bavail * bsize) return;
  const message = `${repo} needs ${needed} bytes, but ${cache} has ${bavail * bsize} left; free some, or set another cache folder.`;
  throw hubError('disk-full', message, { repo, needed });
}

function requireRepoName(repo: string): void {
  const part = '[A-Za-z0-9][\\w.-]*';
  if (new RegExp(`^${part}/${part}$`).test(repo) && !repo.includes('..')) return;
  throw new TabwrightError('config', `"${repo}" is not a model of the hub; write owner/name.`, {
    code: 'bad-model-name',
    details: { repo },
  });
}

/** The hub's own client refuses others with less of an explanation. */
function requireToken(token: string | undefined): void {
  if (token === undefined || /^hf_\w+$/.test(token)) return;
  throw new TabwrightError(
    'config',
    'HF_TOKEN does not look like an access token of the hub: those begin with "hf_".',
    {
      code: 'bad-hub-token',
    },
  );
}

function isUnreachable(error: unknown): boolean {
  return error instanceof TabwrightError && error.retryable;
}

function notCached(repo: string, revision: string, cache: string): TabwrightError {
  const message = `${repo}@${revision} is not in ${cache}, and the hub may not be asked (HF_HUB_OFFLINE); fetch it with a network first.`;
  return hubError('model-not-cached', message, { repo, revision });
}
