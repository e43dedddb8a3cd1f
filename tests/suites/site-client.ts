// A client of our sites without a browser: keeps cookies by domain, follows redirects, reaches any host name at the
// server's own port. For looking at what is served, byte by byte.

import { Agent, request } from 'node:http';

export type Served = { readonly status: number; readonly url: string; readonly body: string };

export interface SiteClient {
  get(url: string): Promise<Served>;
  post(url: string, form: Readonly<Record<string, string>>): Promise<Served>;
}

export function createSiteClient(port: number): SiteClient {
  const cookies = new Map<string, string>();
  // A connection a request: one that is kept may be closed by the server in the moment in which it is used again.
  const agent = new Agent({ keepAlive: false, maxSockets: 1 });
  const domainOf = (host: string): string => host.split('.').slice(-2).join('.');
  const once = (url: URL, form?: string): Promise<Served & { readonly location?: string }> =>
    new Promise((resolve, reject) => {
      const cookie = cookies.get(domainOf(url.hostname));
      const outgoing = request({
        host: '127.0.0.1',
        port,
        agent,
        method: form === undefined ? 'GET' : 'POST',
        path: `${url.pathname}${url.search}`,
        headers: {
          host: url.host,
          ...(cookie === undefined ? {} : { cookie }),
          ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
      });
      outgoing.on('error', reject).on('response', (response) => {
        const set = response.headers['set-cookie']?.[0]?.split(';')[0];
        if (set !== undefined) cookies.set(domainOf(url.hostname), set);
        const chunks: Buffer[] = [];
        response
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('error', reject)
          .on('end', () => {
            const { location } = response.headers;
            const body = Buffer.concat(chunks).toString();
            resolve({
              status: response.statusCode!,
              url: url.href,
              body,
              ...(location === undefined ? {} : { location }),
            });
          });
      });
      outgoing.end(form);
    });
  const follow = async (start: string, form?: string): Promise<Served> => {
    let url = new URL(start);
    let reply = await once(url, form);
    for (let hops = 0; reply.location !== undefined && hops < 10; hops++) {
      url = new URL(reply.location, url);
      reply = await once(url);
    }
    return { status: reply.status, url: reply.url, body: reply.body };
  };
  return {
    get: (url) => follow(url),
    post: (url, form) => follow(url, new URLSearchParams(form).toString()),
  };
}
