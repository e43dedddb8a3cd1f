// What an account has on a server: runs, checkpoints, sessions. Listing, deleting, lifetime, publication, download
// addresses. No session is needed and none is kept alive.

import {
  archiveReplySchema,
  capabilitiesReplySchema,
  checkpointsReplySchema,
  copyWeightsReplySchema,
  externalUrlsReplySchema,
  parseTinkerPath,
  samplerReplySchema,
  sessionReplySchema,
  sessionSearchReplySchema,
  sessionsReplySchema,
  traceExportReplySchema,
  trainingRunSchema,
  trainingRunsReplySchema,
  weightsInfoReplySchema,
  type Capabilities,
  type Checkpoint,
  type SessionInfo,
  type SessionSearchReply,
  type TrainingRun,
  type WeightsInfo,
} from '../wire/index.ts';
import { randomUUID } from 'node:crypto';
import { sleep } from '../../util/index.ts';
import type { Caller } from './caller.ts';
import { clientError, isUnknownEndpoint } from './client-error.ts';
import type { WireReply } from './transport.ts';

/** A checkpoint by its path, or as a listing names it. */
export type CheckpointName = string | { readonly runId: string; readonly checkpointId: string };

export type Page = { readonly limit?: number; readonly offset?: number; readonly signal?: AbortSignal | undefined };

/** Runs and sessions of the account alone, or all that it may see. */
export type Listing = Page & { readonly scope?: 'owned' | 'accessible'; readonly projectId?: string };

export type SessionSearch = {
  readonly sessionId?: string;
  /** Words of it, in whatever case. */
  readonly displayName?: string;
  readonly userMetadata?: Readonly<Record<string, string>>;
  readonly projectIds?: readonly string[];
  /** Default the account's own. */
  readonly owner?:
    { readonly type: 'own' | 'accessible' } | { readonly type: 'user'; readonly owner_urns: readonly string[] };
  readonly statuses?: readonly { readonly type: string; readonly reasons?: readonly string[] }[];
  /** Default 50. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: SessionSearchReply['next_cursor'];
  readonly signal?: AbortSignal | undefined;
};

export type CopyOptions = {
  /** A project, or the run that a session has under this number. */
  readonly into: { readonly projectId: string } | { readonly sessionId: string; readonly modelSeqId: number };
  readonly ttlSeconds?: number;
  /** For weights of another account. */
  readonly accessToken?: string;
  readonly signal?: AbortSignal | undefined;
};

/** Between two questions whether a timeline is ready. */
const TRACE_WAIT_MS = 5_000;

/** An archive may have to be made first; how often and how long that is waited for. */
const ARCHIVE_TRIES = 6;
const ARCHIVE_WAIT_MS = 30_000;

export class RestClient {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Models that the server has. */
  capabilities(signal?: AbortSignal): Promise<Capabilities> {
    return this.#caller.json(capabilitiesReplySchema, { method: 'GET', path: 'get_server_capabilities', signal });
  }

  async listRuns({ limit = 20, offset = 0, scope = 'owned', projectId, signal }: Listing = {}): Promise<
    readonly TrainingRun[]
  > {
    const project = projectId === undefined ? '' : `&project_id=${encodeURIComponent(projectId)}`;
    const path = `training_runs?limit=${limit}&offset=${offset}&access_scope=${scope}${project}`;
    return (await this.#caller.json(trainingRunsReplySchema, { method: 'GET', path, signal })).training_runs;
  }

  getRun(runId: string, signal?: AbortSignal): Promise<TrainingRun> {
    const path = `training_runs/${runId}?access_scope=owned`;
    return this.#caller.json(trainingRunSchema, { method: 'GET', path, signal });
  }

  async listRunCheckpoints(runId: string, signal?: AbortSignal): Promise<readonly Checkpoint[]> {
    const path = `training_runs/${runId}/checkpoints`;
    return (await this.#caller.json(checkpointsReplySchema, { method: 'GET', path, signal })).checkpoints;
  }

  /** Of all runs of the account. */
  async listCheckpoints({ limit = 100, offset = 0, signal }: Page = {}): Promise<readonly Checkpoint[]> {
    const path = `checkpoints?limit=${limit}&offset=${offset}`;
    return (await this.#caller.json(checkpointsReplySchema, { method: 'GET', path, signal })).checkpoints;
  }

  async listSessions({ limit = 20, offset = 0, scope = 'owned', signal }: Omit<Listing, 'projectId'> = {}): Promise<
    readonly string[]
  > {
    const path = `sessions?limit=${limit}&offset=${offset}&access_scope=${scope}`;
    return (await this.#caller.json(sessionsReplySchema, { method: 'GET', path, signal })).sessions;
  }

  getSession(sessionId: string, signal?: AbortSignal): Promise<SessionInfo> {
    return this.#caller.json(sessionReplySchema, { method: 'GET', path: `sessions/${sessionId}`, signal });
  }

  /** One page, newest first; the next one begins at `next_cursor`. */
  searchSessions(search: SessionSearch = {}): Promise<SessionSearchReply> {
    const { sessionId, displayName, userMetadata = {}, projectIds, owner = { type: 'own' }, limit = 50 } = search;
    const body = {
      user_metadata: userMetadata,
      owner,
      limit,
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      ...(displayName === undefined ? {} : { display_name: displayName }),
      ...(projectIds === undefined ? {} : { project_ids: projectIds }),
      ...(search.statuses === undefined ? {} : { statuses: search.statuses }),
      ...(search.cursor ? { cursor: search.cursor } : {}),
    };
    const { signal } = search;
    return this.#caller.json(sessionSearchReplySchema, { path: 'sessions/search', body, signal });
  }

  async assignProject(sessionId: string, projectId: string, signal?: AbortSignal): Promise<void> {
    const path = `sessions/${sessionId}/project`;
    await this.#caller.send({ method: 'PUT', path, body: { project_id: projectId }, signal });
  }

  /** Address of a timeline of the session, which the server may have to make first. */
  async traceUrl(sessionId: string, signal?: AbortSignal): Promise<string> {
    const path = `sessions/${sessionId}/trace_export`;
    const begun = performance.now();
    for (;;) {
      const { status, url, error } = await this.#caller.json(traceExportReplySchema, { method: 'GET', path, signal });
      if (status === 'ready' && url) return url;
      if (status !== 'pending') {
        throw clientError(`There is no timeline of session ${sessionId}: ${error ?? 'no address was given'}`, {
          code: 'tinker-request-failed',
          path,
        });
      }
      const { resultMs, longestRetryMs } = this.#caller.pacing;
      if (performance.now() - begun > resultMs) {
        throw clientError(`The timeline of session ${sessionId} was not made within ${resultMs / 1000} s.`, {
          code: 'tinker-result-timeout',
          path,
        });
      }
      await sleep(Math.min(TRACE_WAIT_MS, longestRetryMs), signal ?? new AbortController().signal);
    }
  }

  async getSampler(
    samplerId: string,
    signal?: AbortSignal,
  ): Promise<{ readonly baseModel: string; readonly modelPath: string | undefined }> {
    const reply = await this.#caller.json(samplerReplySchema, { method: 'GET', path: `samplers/${samplerId}`, signal });
    return { baseModel: reply.base_model, modelPath: reply.model_path ?? undefined };
  }

  weightsInfo(tinkerPath: string, signal?: AbortSignal): Promise<WeightsInfo> {
    return this.#caller.json(weightsInfoReplySchema, {
      path: 'weights_info',
      body: { tinker_path: tinkerPath },
      signal,
    });
  }

  async deleteCheckpoint(name: CheckpointName, signal?: AbortSignal): Promise<void> {
    const [first, second] = checkpointPaths(name);
    try {
      await this.#caller.send({ method: 'DELETE', path: first, signal });
    } catch (error) {
      // SkyRL's ids have no kind before the name.
      if (second === undefined || !isUnknownEndpoint(error)) throw error;
      await this.#caller.send({ method: 'DELETE', path: second, signal });
    }
  }

  /** Deleted after so many seconds from now; `null` keeps it. */
  async setTtl(name: CheckpointName, ttlSeconds: number | null, signal?: AbortSignal): Promise<void> {
    const [path] = checkpointPaths(name);
    await this.#caller.send({ method: 'PUT', path: `${path}/ttl`, body: { ttl_seconds: ttlSeconds }, signal });
  }

  async publish(name: CheckpointName, signal?: AbortSignal): Promise<void> {
    const [path] = checkpointPaths(name);
    await this.#caller.send({ path: `${path}/publish`, body: {}, signal });
  }

  async unpublish(name: CheckpointName, signal?: AbortSignal): Promise<void> {
    const [path] = checkpointPaths(name);
    await this.#caller.send({ method: 'DELETE', path: `${path}/publish`, signal });
  }

  /** Address of the archive of a checkpoint: where a redirect points, or what a reply says. */
  async archiveUrl(
    name: CheckpointName,
    signal?: AbortSignal,
  ): Promise<{ readonly url: string; readonly expires: string | undefined }> {
    for (let attempt = 1; ; attempt++) {
      const reply = await this.#archiveReply(name, signal);
      if (reply.status === 404) {
        const text = typeof name === 'string' ? name : name.checkpointId;
        throw clientError(`The server has no archive of ${text}.`, { code: 'tinker-not-found', status: 404 });
      }
      if (reply.status !== 503) {
        const location = reply.headers.get('location');
        const read = (): { url: string; expires?: string | null | undefined } =>
          this.#caller.read(archiveReplySchema, reply, 'archive');
        const { url, expires } = location === null ? read() : { url: location, expires: reply.headers.get('expires') };
        return { url: new URL(url, `${this.#caller.transport.baseUrl}/`).href, expires: expires ?? undefined };
      }
      if (attempt >= ARCHIVE_TRIES) {
        throw clientError('The archive is still being made; ask again later.', {
          code: 'tinker-unavailable',
          status: 503,
          retryable: true,
        });
      }
      await sleep(
        Math.min(ARCHIVE_WAIT_MS, this.#caller.pacing.longestRetryMs),
        signal ?? new AbortController().signal,
      );
    }
  }

  /** SkyRL's ids have no kind before the name; what is not found by the one is asked for by the other. */
  async #archiveReply(name: CheckpointName, signal: AbortSignal | undefined): Promise<WireReply> {
    const accepts = [302, 303, 307, 404, 503];
    const [first, second] = checkpointPaths(name);
    const reply = await this.#caller.send({ method: 'GET', path: `${first}/archive`, accepts, signal });
    if (reply.status !== 404 || second === undefined) return reply;
    return this.#caller.send({ method: 'GET', path: `${second}/archive`, accepts, signal });
  }

  /** Addresses of the files of a checkpoint that was saved for other programs, by relative name. */
  async externalUrls(tinkerPath: string, signal?: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const { runId, name } = parseTinkerPath(tinkerPath);
    const path = `training_runs/${runId}/checkpoints/external_weights/${name}/external_weights_urls`;
    return (await this.#caller.json(externalUrlsReplySchema, { method: 'GET', path, signal })).urls;
  }

  /** A copy that stays when its source goes; gives its path. */
  async copyWeights(sourcePath: string, { into, ttlSeconds, accessToken, signal }: CopyOptions): Promise<string> {
    const body = {
      source_path: sourcePath,
      ...('projectId' in into
        ? { destination_project_id: into.projectId }
        : { session_id: into.sessionId, model_seq_id: into.modelSeqId }),
      ...(ttlSeconds === undefined ? {} : { ttl_seconds: ttlSeconds }),
    };
    // Bare, as servers are sent it for this: the same copy is told by it.
    const headers = {
      'x-idempotency-key': randomUUID(),
      ...(accessToken === undefined ? {} : { 'x-tinker-weights-access-token': accessToken }),
    };
    return (await this.#caller.json(copyWeightsReplySchema, { path: 'copy_weights', body, headers, signal }))
      .tinker_path;
  }
}

/** The address of a checkpoint, and the one without its kind where there is one. */
function checkpointPaths(name: CheckpointName): readonly [string, string | undefined] {
  const { runId, id, bare } =
    typeof name === 'string'
      ? fromPath(name)
      : { runId: name.runId, id: name.checkpointId, bare: name.checkpointId.split('/').slice(1).join('/') };
  const folder = `training_runs/${runId}/checkpoints`;
  return [`${folder}/${id}`, bare === '' || bare === id ? undefined : `${folder}/${bare}`];
}

function fromPath(path: string): { readonly runId: string; readonly id: string; readonly bare: string } {
  const { runId, kind, name } = parseTinkerPath(path);
  return { runId, id: kind === undefined ? name : `${kind}/${name}`, bare: name };
}
