// Serves sites of our own: one server on the loopback interface for any number of host names, and a program with a state
// of its own for each episode. Which episode a request belongs to is told by a cookie, which the first request of an
// episode gets by a chain of redirects over the domains of its site; addresses and pages are the same in every run.

import { randomUUID } from 'node:crypto';
import { createServer, validateHeaderValue, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TabwrightError } from '../../core/index.ts';
import type { EgressRule } from '../../sandbox/index.ts';
import { textReply, type Site, type SiteProgram, type SiteReply, type SiteRequest } from './site.ts';

export type SiteLogEntry = Pick<SiteRequest, 'method' | 'host' | 'path' | 'query' | 'form'> & {
  readonly status: number;
  /** Its form was too large to be kept, and is empty here; the site's program had it whole. */
  readonly formLeftOut?: true;
};

/** One episode's. */
export interface SiteInstance extends Disposable {
  /** Good for one opening; leads to the site's own start address. */
  readonly startUrl: string;
  /** Every request of this episode, oldest first: what a verifier goes by. */
  readonly log: readonly SiteLogEntry[];
  /** What the site's program threw, which is a fault of ours and no failure of who plays. */
  readonly fault: unknown;
}

export interface SiteHost extends AsyncDisposable {
  /** On 127.0.0.1. */
  readonly port: number;
  /** All hosts of all sites, at port 80, pinned to this server. */
  readonly egress: readonly EgressRule[];
  begin(site: Site): SiteInstance;
}

const COOKIE = 'instance';
const BEGIN = '/begin/';
const MAX_BODY = 1024 * 1024;
/** Of one episode; a page that asks more often is answered no more. */
const MAX_REQUESTS = 20_000;
/** Of a form in the log, in bytes as reckoned by `sizeOf`. */
const MAX_KEPT_FORM = 64 * 1024;
/** Of one episode's log; whoever has sent more is answered no more either. */
const MAX_KEPT = 16 * 1024 * 1024;

type Running = {
  readonly site: Site;
  readonly program: SiteProgram;
  readonly log: SiteLogEntry[];
  /** Bytes in the log. */
  kept: number;
  fault: unknown;
};

export type SiteHostOptions = {
  /** Of the server on loopback. Default a free one; a fixed one for browsers that another program has started. */
  readonly port?: number | undefined;
  /** Gives up the start. */
  readonly signal?: AbortSignal;
};

export async function openSiteHost(sites: readonly Site[], options: SiteHostOptions = {}): Promise<SiteHost> {
  options.signal?.throwIfAborted();
  const hosts = new Set(sites.flatMap((site) => site.hosts));
  const running = new Map<string, Running>(); // by cookie
  const tokens = new Map<string, { readonly key: string; readonly domains: readonly string[]; next: number }>();

  const answer = (request: SiteRequest, key: string | undefined): SiteReply => {
    if (!hosts.has(request.host)) return textReply(`There is no site ${request.host} here.`, 404);
    // Browsers ask for an icon by themselves; a 404 would be an error in the page's console.
    if (request.path === '/favicon.ico') return { status: 204, headers: {}, body: '' };
    if (request.path.startsWith(BEGIN)) return begin(request);
    const one = key === undefined ? undefined : running.get(key);
    if (one === undefined || !one.site.hosts.includes(request.host)) {
      return textReply('This browser has no episode here: open the start address that `begin` gives.', 403);
    }
    if (one.log.length >= MAX_REQUESTS || one.kept >= MAX_KEPT) return textReply('Too many requests.', 429);
    const { method, host, path, query } = request;
    const large = sizeOf(request.form) > MAX_KEPT_FORM;
    const form = large ? new URLSearchParams() : request.form;
    one.kept += path.length + sizeOf(query) + sizeOf(form);
    const { status, headers, body } = run(one, request);
    one.log.push({ method, host, path, query, form, status, ...(large ? { formLeftOut: true as const } : {}) });
    return { status, headers: { 'content-security-policy': ownOnly(one.site.hosts), ...headers }, body };
  };
  const run = (one: Running, request: SiteRequest): SiteReply => {
    try {
      const reply = one.program(request);
      for (const [name, value] of Object.entries(reply.headers)) validateHeaderValue(name, value);
      return reply;
    } catch (error) {
      one.fault ??= error;
      return textReply('The site failed.', 500);
    }
  };
  const begin = ({ host, path }: SiteRequest): SiteReply => {
    const id = path.slice(BEGIN.length);
    const token = tokens.get(id);
    if (token === undefined || token.domains[token.next] !== host) return textReply('This address is used up.', 410);
    token.next++;
    const last = token.next === token.domains.length;
    if (last) tokens.delete(id);
    const cookie = `${COOKIE}=${token.key}; Domain=${domainOf(host)}; Path=/; HttpOnly; SameSite=Lax`;
    const location = last ? running.get(token.key)?.site.startUrl : `http://${token.domains[token.next]}${BEGIN}${id}`;
    return { status: 302, headers: { location: location ?? '/', 'set-cookie': cookie }, body: '' };
  };

  const server = createServer((incoming, response) => {
    void readRequest(incoming).then(
      (request) =>
        send(response, request === undefined ? textReply('Too large.', 413) : answer(request, keyOf(incoming))),
      () => response.destroy(), // its browser has gone
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new TabwrightError('env', `The sites cannot be served on 127.0.0.1: ${cause.message}`, {
          code: 'site-not-served',
          cause,
        }),
      ),
    );
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;

  return {
    port,
    egress: [...hosts].map((host) => ({ host, port: 80, address: '127.0.0.1', toPort: port })),
    begin(site) {
      const unknown = site.hosts.find((host) => !hosts.has(host));
      if (unknown !== undefined) {
        throw new TabwrightError('env', `The site at ${unknown} is not served here.`, { code: 'unknown-site' });
      }
      const [key, id] = [randomUUID(), randomUUID()];
      const one: Running = { site, program: site.open(), log: [], kept: 0, fault: undefined };
      running.set(key, one);
      const domains = onePerDomain(site.hosts);
      tokens.set(id, { key, domains, next: 0 });
      return {
        startUrl: `http://${domains[0]}${BEGIN}${id}`,
        log: one.log,
        get fault() {
          return one.fault;
        },
        [Symbol.dispose]() {
          running.delete(key);
          tokens.delete(id);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The last two labels: sites live directly under a top-level domain. */
function domainOf(host: string): string {
  return host.split('.').slice(-2).join('.');
}

/** The first host of each registrable domain. */
function onePerDomain(hosts: readonly string[]): readonly string[] {
  return hosts.filter((host, index) => hosts.findIndex((other) => domainOf(other) === domainOf(host)) === index);
}

/** With what each pair takes beside its letters: a form of many empty fields is large too. */
function sizeOf(pairs: URLSearchParams): number {
  return pairs.toString().length + 64 * pairs.size;
}

function keyOf({ headers }: IncomingMessage): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]*)`).exec(headers.cookie ?? '')?.[1];
}

/** Undefined where the body is too large. */
async function readRequest(incoming: IncomingMessage): Promise<SiteRequest | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  }
  if (size > MAX_BODY) return undefined;
  const { method = 'GET', url = '/', headers } = incoming;
  const host = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
  const [path, query = ''] = url.split(/\?(.*)/s);
  const body = Buffer.concat(chunks);
  const urlencoded = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return {
    method,
    host,
    path,
    query: new URLSearchParams(query),
    form: new URLSearchParams(urlencoded ? body.toString() : ''),
    body,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}

/** For browsers: pages load nothing from elsewhere and send no form there. */
function ownOnly(hosts: readonly string[]): string {
  const own = hosts.map((host) => `http://${host}`).join(' ');
  return `default-src ${own} 'unsafe-inline' 'unsafe-eval' data: blob:; form-action ${own}`;
}

/** Nothing of a clock, and nothing that a browser keeps: each look at a page is in the log. */
function send(response: ServerResponse, { status, headers, body }: SiteReply): void {
  response.sendDate = false;
  response.writeHead(status, { 'cache-control': 'no-store', ...headers }).end(body);
}
