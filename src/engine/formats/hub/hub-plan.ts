// Which files of a repository are taken: weights as safetensors, and the texts that say what they are. What a repo
// lists is a stranger's word: names are checked before any of them becomes a path, sizes before anything is fetched,
// and formats that can run programs when they are opened are never taken.

import { hubError } from './hub-client.ts';

export type ListedFile = {
  readonly path: string;
  readonly size: number;
  /** Git's object id: sha1 of a header and the content. */
  readonly oid?: string;
  /** Large files: sha256 of the content. */
  readonly sha256?: string;
};

export type PlannedFile = {
  readonly name: string;
  readonly bytes: number;
  readonly checksum: { readonly kind: 'sha256' | 'git-sha1'; readonly hex: string };
};

export const DEFAULT_MAX_BYTES = 64 * 2 ** 30;
const MAX_TEXT_BYTES = 128 << 20;
export const MAX_LISTED_FILES = 10_000;

const SHARD = /^model-\d{5}-of-\d{5}\.safetensors$/;
const TEXT = /^(?:[\w-][\w.-]*\.(?:json|txt|jinja)|README\.md|LICENSE[\w.-]*|NOTICE[\w.-]*)$/;
const PICKLE = /\.(?:bin|pt|pth|ckpt|pkl|pickle|h5|msgpack)$/;

export type PlanOptions = {
  readonly repo: string;
  readonly files: readonly ListedFile[];
  /** Of all files together. */
  readonly maxBytes: number;
};

export function planDownload({ repo, files, maxBytes }: PlanOptions): readonly PlannedFile[] {
  for (const { path } of files) {
    if (isHostile(path)) {
      const message = `${repo} lists the file ${JSON.stringify(path)}, whose name leads out of its folder; nothing of it is taken.`;
      throw hubError('hostile-repository', message, { repo, path });
    }
  }
  const top = files.filter(({ path }) => !path.includes('/'));
  const whole = top.filter(({ path }) => path === 'model.safetensors');
  const shards = top.filter(({ path }) => SHARD.test(path));
  const weights = whole.length > 0 ? whole : shards;
  if (weights.length === 0) {
    const pickle = top.find(({ path }) => PICKLE.test(path));
    const why = pickle
      ? `its weights are in ${pickle.path}, a format that can run programs and is not taken; look for a revision or another repository with safetensors`
      : 'it has no model.safetensors and no shards of one';
    throw hubError('no-safetensors', `${repo} cannot be used: ${why}.`, { repo });
  }
  const texts = top.filter(({ path }) => TEXT.test(path));
  if (!texts.some(({ path }) => path === 'config.json')) {
    throw hubError('no-model-config', `${repo} cannot be used: it has no config.json.`, { repo });
  }
  const large = texts.find(({ size }) => size > MAX_TEXT_BYTES);
  if (large) throw tooLarge(repo, `${large.path} has ${large.size} bytes, more than ${MAX_TEXT_BYTES}`);
  const planned = [...texts, ...weights].map((file) => plannedFile(repo, file));
  const total = planned.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > maxBytes) throw tooLarge(repo, `it has ${total} bytes, more than ${maxBytes}`);
  return planned;
}

function plannedFile(repo: string, { path, size, oid, sha256 }: ListedFile): PlannedFile {
  if (!Number.isSafeInteger(size) || size < 0) {
    throw tooLarge(repo, `${path} claims the size ${size}`);
  }
  if (sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256)) {
    return { name: path, bytes: size, checksum: { kind: 'sha256', hex: sha256 } };
  }
  if (oid !== undefined && /^[0-9a-f]{40}$/.test(oid)) {
    return { name: path, bytes: size, checksum: { kind: 'git-sha1', hex: oid } };
  }
  throw hubError('hub-answer', `The hub gives no checksum for ${path} of ${repo}.`, { repo, path });
}

function tooLarge(repo: string, why: string): Error {
  return hubError('model-too-large', `${repo} is not fetched: ${why}.`, { repo });
}

/** By the rules of every system, since a cache may be moved between them. */
function isHostile(path: string): boolean {
  const parts = path.split(/[/\\]/);
  return (
    path === '' ||
    /[\u0000-\u001f\\]/.test(path) ||
    /^[a-z]:/i.test(path) ||
    parts.some((part) => /^\.{0,2}$/.test(part))
  );
}
