// Fetching from a small server that speaks the hub's endpoints over real HTTP, with a second one in the part of the
// storage that large files are redirected to; everything that can go wrong on the way, and repositories that mean harm.

import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRng } from '../../../util/index.ts';
import { fetchModel, type FetchedModel, type FetchModelOptions, type FetchProgress } from './fetch-model.ts';

const COMMIT = 'a'.repeat(40);
const OLDER = 'b'.repeat(40);
const REPO = 'owner/small-model';

const rng = createRng('hub-test', 1);
const WEIGHTS = Buffer.from(Uint8Array.from({ length: 300_000 }, () => Math.floor(rng.next() * 256)));

type Listed = { path: string; size: number; oid?: string; lfs?: { oid: string; size: number; pointerSize: number } };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let cache = '';
let hub: Server;
let storage: Server;
let files: Map<string, Buffer>;
let listed: Listed[];
let refs: Map<string, string>;
/** What was asked, in order. */
let asked: { server: string; url: string; range: string | undefined; token: string | undefined }[];
let onApi: Handler | undefined;
let onFile: Handler | undefined;
let onStorage: Handler | undefined;

const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const gitSha1 = (data: Buffer): string => createHash('sha1').update(`blob ${data.length}\0`).update(data).digest('hex');
const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function listing(): Listed[] {
  return [...files].map(([path, data]) =>
    path.endsWith('.safetensors')
      ? {
          path,
          size: data.length,
          oid: '0'.repeat(40),
          lfs: { oid: sha256(data), size: data.length, pointerSize: 130 },
        }
      : { path, size: data.length, oid: gitSha1(data) },
  );
}

function send(request: IncomingMessage, response: ServerResponse, data: Buffer): void {
  const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const part = data.subarray(from);
  response.writeHead(request.headers.range ? 206 : 200, {
    'content-length': part.length,
    ...(request.headers.range ? { 'content-range': `bytes ${from}-${data.length - 1}/${data.length}` } : {}),
  });
  response.end(part);
}

function json(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const listen = async (name: string, handle: Handler): Promise<Server> => {
  const server = createServer((request, response) => {
    asked.push({
      server: name,
      url: request.url ?? '',
      range: request.headers.range,
      token: request.headers.authorization,
    });
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
};

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'tabwright-hub-'));
  files = new Map([
    ['config.json', Buffer.from('{"model_type":"llama"}')],
    ['tokenizer.json', Buffer.from('{}')],
    ['README.md', Buffer.from('---\nlicense: apache-2.0\n---\n')],
    ['model.safetensors', WEIGHTS],
    ['pytorch_model.bin', Buffer.from('pickle')],
    ['onnx/model.onnx', Buffer.from('graph')],
    ['.gitattributes', Buffer.from('x')],
  ]);
  listed = listing();
  refs = new Map([
    ['main', COMMIT],
    ['v1', OLDER],
    [COMMIT, COMMIT],
    [OLDER, OLDER],
  ]);
  asked = [];
  onApi = onFile = onStorage = undefined;
  hub = await listen('hub', (request, response) => {
    const url = new URL(request.url ?? '', 'http://hub');
    const revision = /^\/api\/models\/owner\/small-model\/revision\/(.+)$/.exec(url.pathname)?.[1];
    if (url.pathname.startsWith('/api/') && onApi) return onApi(request, response);
    if (revision !== undefined) {
      const sha = refs.get(decodeURIComponent(revision));
      if (sha === undefined) return json(response, { error: 'x' }, 404, { 'x-error-code': 'RevisionNotFound' });
      return json(response, {
        _id: '1',
        id: REPO,
        sha,
        private: false,
        gated: false,
        likes: 0,
        downloads: 0,
        lastModified: 0,
      });
    }
    if (/^\/api\/models\/owner\/small-model\/tree\//.test(url.pathname)) {
      return json(
        response,
        listed.map((entry) => ({ type: 'file', ...entry })),
      );
    }
    const file = /^\/owner\/small-model\/resolve\/[0-9a-f]{40}\/(.+)$/.exec(url.pathname)?.[1];
    const data = file === undefined ? undefined : files.get(file);
    if (data === undefined) return json(response, { error: 'none' }, 404, { 'x-error-code': 'RepoNotFound' });
    if (onFile) return onFile(request, response);
    if (!file!.endsWith('.safetensors')) return send(request, response, data);
    response.writeHead(302, { location: `${addressOf(storage)}/${file!}` }).end();
  });
  storage = await listen('storage', (request, response) => {
    const data = files.get((request.url ?? '').slice(1))!;
    if (onStorage) return onStorage(request, response);
    send(request, response, data);
  });
});

afterEach(async () => {
  for (const server of [hub, storage]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await rm(cache, { recursive: true, force: true });
});

const fetchIt = (options: Partial<FetchModelOptions> = {}): Promise<FetchedModel> =>
  fetchModel({ repo: REPO, cache, endpoint: addressOf(hub), backoffMs: 1, ...options });

describe('fetchModel', () => {
  it('takes safetensors and texts at the top of the repository, and nothing else', async () => {
    const { folder, commit, cached } = await fetchIt();
    expect({ commit, cached }).toEqual({ commit: COMMIT, cached: false });
    expect((await readdir(folder)).sort()).toEqual(['README.md', 'config.json', 'model.safetensors', 'tokenizer.json']);
    expect((await readFile(join(folder, 'model.safetensors'))).equals(WEIGHTS)).toBe(true);
    const fetched = asked.filter(({ url }) => url.includes('/resolve/')).map(({ url }) => url.split('/').at(-1));
    expect(fetched.sort()).toEqual(['README.md', 'config.json', 'model.safetensors', 'tokenizer.json']);
  });

  it('takes the shards of a model and its index', async () => {
    files.delete('model.safetensors');
    files.set('model-00001-of-00002.safetensors', WEIGHTS.subarray(0, 1000));
    files.set('model-00002-of-00002.safetensors', WEIGHTS.subarray(1000));
    files.set('model.safetensors.index.json', Buffer.from('{"weight_map":{}}'));
    files.set('consolidated.safetensors', WEIGHTS);
    listed = listing();
    const { folder } = await fetchIt();
    expect((await readdir(folder)).filter((name) => name.includes('safetensors')).sort()).toEqual([
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
    ]);
  });

  it('reports how far it is', async () => {
    const seen: FetchProgress[] = [];
    await fetchIt({ onProgress: (progress) => seen.push(progress) });
    const total = [...files]
      .filter(([name]) => /^(config|tok|READ|model)/.test(name))
      .reduce((sum, [, data]) => sum + data.length, 0);
    expect(seen.at(-1)).toEqual({ file: 'model.safetensors', bytes: total, totalBytes: total });
    expect(seen.every(({ bytes }, i) => i === 0 || bytes >= seen[i - 1].bytes)).toBe(true);
  });

  it('fetches nothing twice: a pinned commit is not even asked for, a branch only for its commit', async () => {
    await fetchIt();
    asked = [];
    expect(await fetchIt()).toMatchObject({ commit: COMMIT, cached: true });
    expect(asked.map(({ url }) => url.split('?')[0])).toEqual([`/api/models/${REPO}/revision/main`]);
    asked = [];
    expect(await fetchIt({ revision: COMMIT })).toMatchObject({ cached: true });
    expect(asked).toEqual([]);
  });

  it('follows a branch that has moved and keeps what it stood for before', async () => {
    await fetchIt({ revision: 'v1' });
    refs.set('v1', COMMIT);
    expect(await fetchIt({ revision: 'v1' })).toMatchObject({ commit: COMMIT, cached: false });
    expect(await fetchIt({ revision: OLDER })).toMatchObject({ commit: OLDER, cached: true });
  });

  it('is there without a network, asked for or not', async () => {
    await fetchIt();
    const gone = 'http://127.0.0.1:9'; // the discard port, where nobody listens
    expect(await fetchIt({ endpoint: gone })).toMatchObject({ commit: COMMIT, cached: true });
    asked = [];
    expect(await fetchIt({ offline: true })).toMatchObject({ commit: COMMIT, cached: true });
    expect(asked).toEqual([]);
    await expect(fetchIt({ offline: true, revision: 'v1' })).rejects.toMatchObject({ code: 'model-not-cached' });
    await expect(fetchIt({ endpoint: gone, revision: 'v1' })).rejects.toMatchObject({ code: 'hub-unreachable' });
  });

  it('fetches a file again that was damaged in the cache', async () => {
    const { folder } = await fetchIt();
    await truncate(join(folder, 'model.safetensors'), 10);
    expect(await fetchIt()).toMatchObject({ cached: false });
    expect((await readFile(join(folder, 'model.safetensors'))).equals(WEIGHTS)).toBe(true);
  });

  it('sends the token to the hub and not to where it is redirected', async () => {
    await fetchIt({ token: 'hf_secret' });
    for (const { server, token } of asked) expect(token).toBe(server === 'hub' ? 'Bearer hf_secret' : undefined);
    expect(asked.some(({ server }) => server === 'storage')).toBe(true);
    await expect(fetchIt({ token: 'secret' })).rejects.toMatchObject({ code: 'bad-hub-token' });
  });
});

describe('a connection that drops', () => {
  /** Sends so much of what is asked for and closes when the client has it on disk. */
  const dropping = (
    partBytes: number,
  ): { readonly handle: Handler; readonly onProgress: (at: FetchProgress) => void } => {
    let open: { readonly response: ServerResponse; readonly end: number } | undefined;
    return {
      handle(request, response) {
        const from = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
        response.writeHead(from === 0 ? 200 : 206, {
          'content-length': WEIGHTS.length - from,
          'content-range': `bytes ${from}-${WEIGHTS.length - 1}/${WEIGHTS.length}`,
        });
        const end = Math.min(from + partBytes, WEIGHTS.length);
        open = { response, end };
        if (end === WEIGHTS.length) response.end(WEIGHTS.subarray(from));
        else response.write(WEIGHTS.subarray(from, end));
      },
      onProgress({ file, bytes, totalBytes }) {
        if (file !== 'model.safetensors' || open === undefined) return;
        const have = bytes - (totalBytes - WEIGHTS.length);
        if (have === open.end && have < WEIGHTS.length) open.response.destroy();
      },
    };
  };

  it('is taken up again where it ended, as often as bytes come', async () => {
    const { handle, onProgress } = dropping(50_000);
    onStorage = handle;
    const { folder } = await fetchIt({ onProgress });
    expect((await readFile(join(folder, 'model.safetensors'))).equals(WEIGHTS)).toBe(true);
    const ranges = asked.filter(({ server }) => server === 'storage').map(({ range }) => range);
    expect(ranges).toEqual([undefined, ...[1, 2, 3, 4, 5].map((part) => `bytes=${part * 50_000}-`)]);
  });

  it('is given up when nothing comes any more, what came is kept, and the next call goes on from there', async () => {
    const { handle, onProgress } = dropping(120_000);
    let served = false;
    onStorage = (request, response) => {
      if (served) return void response.destroy();
      served = true;
      handle(request, response);
    };
    await expect(fetchIt({ onProgress })).rejects.toMatchObject({ retryable: true });
    onStorage = undefined;
    asked = [];
    const { folder } = await fetchIt();
    expect((await readFile(join(folder, 'model.safetensors'))).equals(WEIGHTS)).toBe(true);
    expect(asked.filter(({ server }) => server === 'storage').map(({ range }) => range)).toEqual(['bytes=120000-']);
  });

  it('is noticed when it stays open without a byte', async () => {
    let first = true;
    onStorage = (request, response) => {
      if (!first) return send(request, response, WEIGHTS);
      first = false;
      response.writeHead(200, { 'content-length': WEIGHTS.length });
      response.write(WEIGHTS.subarray(0, 1000));
    };
    const { folder } = await fetchIt({ stallMs: 300 });
    expect((await readFile(join(folder, 'model.safetensors'))).equals(WEIGHTS)).toBe(true);
  });

  it('to a server that knows no parts of files begins again', async () => {
    let first = true;
    onStorage = (_request, response) => {
      response.writeHead(200, { 'content-length': WEIGHTS.length });
      if (!first) return void response.end(WEIGHTS);
      first = false;
      response.write(WEIGHTS.subarray(0, 1000), () => setTimeout(() => response.destroy(), 20));
    };
    const { folder } = await fetchIt();
    expect((await readFile(join(folder, 'model.safetensors'))).equals(WEIGHTS)).toBe(true);
  });

  it('ends at once when the caller gives up', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    onStorage = (_request, response) => {
      response.writeHead(200, { 'content-length': WEIGHTS.length });
      response.write(WEIGHTS.subarray(0, 1000), () => controller.abort(reason));
    };
    await expect(fetchIt({ signal: controller.signal })).rejects.toBe(reason);
    onStorage = undefined;
    expect(await fetchIt()).toMatchObject({ cached: false }); // the lock is free again
  });

  it('has a deadline for an answer of the hub', async () => {
    onApi = () => undefined;
    await expect(fetchIt({ requestMs: 200 })).rejects.toMatchObject({ code: 'hub-unreachable', retryable: true });
  });
});

describe('what is not as announced', () => {
  it.each(['model.safetensors', 'config.json'])('is thrown away: %s with another content', async (name) => {
    const data = Buffer.from(files.get(name)!);
    data[data.length - 1] ^= 1;
    files.set(name, data); // the listing keeps the old checksums
    await expect(fetchIt()).rejects.toMatchObject({ code: 'checksum-mismatch', details: { file: name } });
    const folder = join(cache, 'owner--small-model');
    expect(await readdir(join(folder, 'partial'))).not.toContain(`${COMMIT}-${name}`);
    expect(await readdir(join(folder, COMMIT))).not.toContain(name);
    await expect(fetchIt({ offline: true })).rejects.toMatchObject({ code: 'model-not-cached' });
  });

  it('is cut off where it should have ended', async () => {
    files.set('model.safetensors', Buffer.concat([WEIGHTS, WEIGHTS]));
    await expect(fetchIt()).rejects.toMatchObject({ code: 'download-too-long' });
  });
});

describe('refusals', () => {
  const refuse =
    (status: number, code?: string): Handler =>
    (_request, response) =>
      json(response, { error: 'no' }, status, code === undefined ? {} : { 'x-error-code': code });

  it('of a gated model say where to accept its terms and what to set', async () => {
    onFile = refuse(403, 'GatedRepo');
    const bare = fetchIt();
    await expect(bare).rejects.toMatchObject({ code: 'model-gated' });
    await expect(bare).rejects.toThrow(`accept its terms at ${addressOf(hub)}/${REPO}, then set HF_TOKEN`);
    await expect(fetchIt({ token: 'hf_x' })).rejects.toThrow(/with the account of HF_TOKEN/);
    onFile = refuse(401, 'GatedRepo');
    await expect(fetchIt()).rejects.toMatchObject({ code: 'model-gated' });
  });

  it('of a model that is private or none say both', async () => {
    onApi = refuse(401, 'RepoNotFound');
    const refused = fetchIt();
    await expect(refused).rejects.toMatchObject({ code: 'model-not-found' });
    await expect(refused).rejects.toThrow(/check the name; for a private or gated model set HF_TOKEN/);
    onApi = refuse(404);
    await expect(fetchIt()).rejects.toMatchObject({ code: 'model-not-found', retryable: false });
    onApi = refuse(503);
    await expect(fetchIt()).rejects.toMatchObject({ code: 'hub-answer', retryable: true });
  });

  it('name a revision that does not exist', async () => {
    await expect(fetchIt({ revision: 'v9' })).rejects.toMatchObject({ code: 'revision-not-found' });
  });

  it.each(['nano', '../x', 'a/b/c', 'a/..', 'a b/c', ''])('name %j, which is no model of the hub', async (repo) => {
    await expect(fetchIt({ repo })).rejects.toMatchObject({ code: 'bad-model-name' });
    expect(asked).toEqual([]);
  });

  it('let one process fetch at a time, and take over from one that died', async () => {
    await mkdir(join(cache, 'owner--small-model'), { recursive: true });
    const lock = join(cache, 'owner--small-model', 'lock');
    await writeFile(lock, '1'); // init, which is always alive
    await expect(fetchIt()).rejects.toMatchObject({ code: 'download-in-progress' });
    await writeFile(lock, '999999999');
    expect(await fetchIt()).toMatchObject({ cached: false });
  });
});

describe('a repository that means harm', () => {
  it.each(['../model.safetensors', 'a/../../b.json', '/etc/passwd', 'a\\..\\b', 'C:\\x', 'a\u0000b', '..', ''])(
    'is refused whole for the name %j',
    async (path) => {
      listed.push({ path, size: 1, oid: '0'.repeat(40) });
      await expect(fetchIt()).rejects.toMatchObject({ code: 'hostile-repository' });
      expect(asked.filter(({ url }) => url.includes('/resolve/'))).toEqual([]);
    },
  );

  it.each([1e15, -1, 2 ** 60, 1.5])('is refused for a model of %d bytes', async (size) => {
    listed = listed.map((entry) =>
      entry.path === 'model.safetensors' ? { ...entry, size, lfs: { ...entry.lfs!, size } } : entry,
    );
    await expect(fetchIt()).rejects.toMatchObject({ code: 'model-too-large' });
  });

  it('is refused for a config of gigabytes, and for more than fits', async () => {
    listed[0].size = 2 ** 31;
    await expect(fetchIt()).rejects.toMatchObject({ code: 'model-too-large' });
    listed = listing();
    await expect(fetchIt({ maxBytes: 1000 })).rejects.toMatchObject({ code: 'model-too-large' });
  });

  it('has no weights that are taken if they are pickles', async () => {
    files.delete('model.safetensors');
    listed = listing();
    const refused = fetchIt();
    await expect(refused).rejects.toMatchObject({ code: 'no-safetensors' });
    await expect(refused).rejects.toThrow(/pytorch_model.bin, a format that can run programs/);
  });

  it('cannot send the token elsewhere by its next page', async () => {
    onApi = (request, response) => {
      if (request.url?.includes('/revision/'))
        return json(response, { _id: '1', id: REPO, sha: COMMIT, lastModified: 0 });
      json(response, [], 200, { link: `<${addressOf(storage)}/more>; rel="next"` });
    };
    await expect(fetchIt({ token: 'hf_secret' })).rejects.toMatchObject({ code: 'hub-answer' });
    expect(asked.filter(({ server }) => server === 'storage')).toEqual([]);
  });

  it('cannot list without end', async () => {
    let page = 0;
    onApi = (request, response) => {
      if (request.url?.includes('/revision/'))
        return json(response, { _id: '1', id: REPO, sha: COMMIT, lastModified: 0 });
      const entries = Array.from({ length: 5000 }, (_, i) => ({
        type: 'file',
        path: `f${page}-${i}`,
        size: 1,
        oid: '',
      }));
      json(response, entries, 200, { link: `<${addressOf(hub)}/api/more${page++}>; rel="next"` });
    };
    await expect(fetchIt()).rejects.toMatchObject({ code: 'hostile-repository' });
  });
});
