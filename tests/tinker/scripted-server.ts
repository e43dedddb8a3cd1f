// A server for tests that answers as it is told, over real HTTP: what peers were seen to say, one reply after the other.
// The handshake is answered by itself; everything that was asked is kept.

import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServiceClient, type ServiceClientOptions } from '../../src/tinker/index.ts';

export type Asked = {
  readonly method: string;
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Uint8Array;
  /** Empty where it was no JSON. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly atMs: number;
  /** When its answer went out. A client cannot have acted on it before: a pause measured from here is never short. */
  answeredMs: number;
};

export type Answer = {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly protobuf?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Cut the connection instead. */
  readonly cut?: boolean;
  /** Leave it unanswered. */
  readonly hang?: boolean;
};

type Script = Readonly<Record<string, readonly Answer[] | ((asked: Asked) => Answer | Promise<Answer>)>>;

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** What was asked of a path, in order. */
  of(path: string): readonly Asked[];
  connect(options?: Partial<ServiceClientOptions>): Promise<ServiceClient>;
}

/** Waits short enough for tests; their proportions are the real ones. */
export const QUICK = {
  firstRetryMs: 20,
  longestRetryMs: 60,
  retryBudgetMs: 2000,
  repollMs: 10,
  backPressureMs: [60, 120],
  billingPauseMs: 20,
  billingBudgetMs: 200,
  heartbeatMs: 40,
  silenceMs: 100,
  pollMs: 2000,
  resultMs: 5000,
} as const;

const HANDSHAKE: Script = {
  'client/config': () => ({ json: {} }),
  'client/dynamic_config': () => ({ status: 404, json: { detail: 'Not Found' } }),
  create_session: () => ({ json: { session_id: 's1' } }),
  session_heartbeat: () => ({ json: {} }),
  create_model: () => ({ json: { request_id: 's1:train:0:0' } }),
  get_info: () => ({ json: { model_id: 's1:train:0', model_data: { model_name: 'm' } } }),
  create_sampling_session: () => ({ json: { sampling_session_id: 's1:sample:0' } }),
  'sessions/s1/finish': () => ({ json: {} }),
};

/** The last answer of a list is given from then on; a path that is not in the script is answered with 404. */
export async function scripted(script: Script): Promise<ScriptedServer> {
  const asked: Asked[] = [];
  const given = new Map<string, number>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      void (async () => {
        const bytes = Buffer.concat(parts);
        const [path, query = ''] = request.url!.replace('/api/v1/', '').split('?');
        const isJson = request.headers['content-type'] === 'application/json';
        const body = isJson ? (JSON.parse(bytes.toString()) as Asked['body']) : {};
        const entry: Asked = {
          method: request.method!,
          path,
          query,
          headers: request.headers,
          bytes,
          body,
          atMs: performance.now(),
          answeredMs: Infinity,
        };
        asked.push(entry);
        const rule = script[path] ?? HANDSHAKE[path];
        let answer: Answer = { status: 404, json: { detail: 'Not Found' } };
        if (typeof rule === 'function') answer = await rule(entry);
        else if (rule !== undefined) {
          const turn = given.get(path) ?? 0;
          given.set(path, turn + 1);
          answer = rule[Math.min(turn, rule.length - 1)];
        }
        if (answer.hang === true) return;
        entry.answeredMs = performance.now();
        if (answer.cut === true) {
          request.socket.destroy();
          return;
        }
        const type = answer.protobuf
          ? 'application/x-protobuf'
          : answer.text === undefined
            ? 'application/json'
            : 'text/plain';
        response.writeHead(answer.status ?? 200, { 'content-type': type, ...answer.headers });
        response.end(answer.protobuf ?? answer.text ?? JSON.stringify(answer.json ?? {}));
      })();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const open: ServiceClient[] = [];
  return {
    url,
    asked,
    of: (path) => asked.filter((one) => one.path === path),
    async connect(options = {}) {
      const client = await ServiceClient.connect({ baseUrl: url, apiKey: 'tml-test-key', pacing: QUICK, ...options });
      open.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of open) await client.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
