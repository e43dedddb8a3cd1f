// Requests to a model hub: one function in the shape of `fetch`, with a deadline, the caller's signal, and answers
// that are no success turned into errors that say what to do. It keeps to the hub's own address; only a file's body
// may come from elsewhere, and then without the token (Node's fetch drops it when a redirect leaves the origin).

import { TabwrightError } from '../../../core/index.ts';
import { withDeadline } from '../../../util/index.ts';

export type HubClient = {
  readonly endpoint: string;
  readonly token: string | undefined;
  /** For `@huggingface/hub`: whole answers, bounded in time and size. */
  readonly fetch: typeof fetch;
  /** A file's body from a byte on; the caller reads it. */
  openFile(request: FileRequest): Promise<Response>;
};

export type FileRequest = {
  readonly repo: string;
  readonly commit: string;
  readonly file: string;
  readonly from: number;
  readonly signal: AbortSignal;
};

export type HubClientOptions = {
  /** Scheme, host and port, e.g. https://huggingface.co. */
  readonly endpoint: string;
  /** For messages. */
  readonly repo: string;
  readonly token?: string;
  /** Until an answer's head, or a whole answer of the API, has come. Default 30,000. */
  readonly requestMs?: number;
  readonly signal?: AbortSignal;
};

/** Lists of files are the largest answers of the API. */
const MAX_ANSWER_BYTES = 64 << 20;

export function createHubClient(options: HubClientOptions): HubClient {
  const { endpoint, repo, token, requestMs = 30_000, signal } = options;
  const origin = new URL(endpoint).origin;
  const late = (): Error =>
    hubError('hub-unreachable', `${origin} did not answer for ${repo} in ${requestMs / 1000} s.`, { repo }, true);
  const answer = async (url: string, init: RequestInit): Promise<Response> => {
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      if (init.signal?.aborted) throw init.signal.reason;
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      const message = `${origin} could not be reached for ${repo} (${reason}); check the connection and HF_ENDPOINT.`;
      throw hubError('hub-unreachable', message, { repo, reason }, true);
    }
    if (response.ok) return response;
    const refused = refusal(response, options);
    await response.body?.cancel();
    throw refused;
  };
  const whole = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    if (new URL(url).origin !== origin) {
      const message = `${origin} sent a request for ${repo} on to ${new URL(url).origin}, which is not followed.`;
      throw hubError('hub-answer', message, { repo, url });
    }
    return withDeadline({ ms: requestMs, signal, onExpiry: late }, async (limit) => {
      const response = await answer(url, { ...init, signal: limit });
      const body = await readBounded(response, repo);
      return new Response(body, { status: response.status, headers: response.headers });
    });
  };
  return {
    endpoint,
    token,
    fetch: whole,
    openFile: ({ commit, file, from, signal: limit }) =>
      withDeadline({ ms: requestMs, signal: limit, onExpiry: late }, () =>
        answer(`${endpoint}/${repo}/resolve/${commit}/${file}`, {
          // The body outlives this deadline; whoever reads it watches that bytes come.
          signal: limit,
          headers: {
            ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
            ...(from > 0 ? { range: `bytes=${from}-` } : {}),
            // A compressed body would have another length than the file.
            'accept-encoding': 'identity',
          },
        }),
      ),
  };
}

async function readBounded(response: Response, repo: string): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    const bytes = part as Uint8Array;
    length += bytes.length;
    if (length > MAX_ANSWER_BYTES) {
      throw hubError('hub-answer', `The hub's answer for ${repo} is longer than ${MAX_ANSWER_BYTES} bytes.`, { repo });
    }
    parts.push(bytes);
  }
  return new Uint8Array(Buffer.concat(parts));
}

function refusal(response: Response, { endpoint, repo, token }: HubClientOptions): TabwrightError {
  const { status } = response;
  const code = response.headers.get('x-error-code') ?? '';
  const details = { repo, status };
  const page = `${endpoint}/${repo}`;
  if (code === 'GatedRepo' || (status === 403 && code === '')) {
    const todo =
      token === undefined
        ? `accept its terms at ${page}, then set HF_TOKEN to an access token of that account`
        : `accept its terms at ${page} with the account of HF_TOKEN, and give that token the right to read gated repositories`;
    return hubError('model-gated', `${repo} is gated: ${todo}.`, details);
  }
  if (code === 'RevisionNotFound') {
    return hubError('revision-not-found', `${repo} has no such revision; see ${page}/commits/main.`, details);
  }
  if (status === 401 || status === 403 || status === 404 || code === 'RepoNotFound') {
    const todo =
      token === undefined
        ? 'check the name; for a private or gated model set HF_TOKEN to an access token that may read it'
        : 'check the name, and that HF_TOKEN is valid and may read it';
    return hubError('model-not-found', `${repo} was not found at ${endpoint} (status ${status}): ${todo}.`, details);
  }
  if (status === 416) return hubError('hub-range', `${endpoint} has no such part of a file of ${repo}.`, details);
  const retryable = status === 429 || status >= 500;
  return hubError('hub-answer', `${endpoint} answered ${status} for ${repo}; try again later.`, details, retryable);
}

export function hubError(
  code: string,
  message: string,
  details: Readonly<Record<string, string | number>>,
  retryable = false,
): TabwrightError {
  return new TabwrightError('store', message, { code, details, retryable });
}
