import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSiteClient } from '../../../tests/suites/site-client.ts';
import { openSiteHost, type SiteHost } from './host.ts';
import { markup } from './html.ts';
import { htmlReply, notFound, redirect, type Site } from './site.ts';

const counter: Site = {
  hosts: ['shop.test', 'www.shop.test', 'id.other.test'],
  startUrl: 'http://www.shop.test/?page=1',
  open() {
    let count = 0;
    return ({ method, host, path, form }) => {
      if (path === '/fails') throw new Error('broken');
      if (path === '/add') {
        count += Number(form.get('by') ?? 0);
        return redirect('/');
      }
      return path === '/' ? htmlReply(markup`<p>${method} ${host} ${count}</p>`) : notFound();
    };
  },
};

let host: SiteHost;
beforeAll(async () => {
  host = await openSiteHost([counter]);
});
afterAll(() => host[Symbol.asyncDispose]());

test('an episode begins at the canonical address, on every host of its site, and has its own state', async () => {
  using first = host.begin(counter);
  using second = host.begin(counter);
  const [one, two] = [createSiteClient(host.port), createSiteClient(host.port)];
  expect(await one.get(first.startUrl)).toEqual({
    status: 200,
    url: 'http://www.shop.test/?page=1',
    body: '<p>GET www.shop.test 0</p>',
  });
  await two.get(second.startUrl);
  expect((await one.post('http://shop.test/add', { by: '2' })).body).toBe('<p>GET shop.test 2</p>');
  expect((await one.get('http://id.other.test/')).body).toBe('<p>GET id.other.test 2</p>');
  expect((await two.get('http://shop.test/')).body).toBe('<p>GET shop.test 0</p>');
  expect(first.log.map(({ method, host: name, path, status }) => `${method} ${name}${path} ${status}`)).toEqual([
    'GET www.shop.test/ 200',
    'POST shop.test/add 303',
    'GET shop.test/ 200',
    'GET id.other.test/ 200',
  ]);
  expect(first.log[0].query.get('page')).toBe('1');
  expect(first.log[1].form.get('by')).toBe('2');
});

test('a start address is good for one opening, and none without one gets a page', async () => {
  using instance = host.begin(counter);
  await createSiteClient(host.port).get(instance.startUrl);
  expect((await createSiteClient(host.port).get(instance.startUrl)).status).toBe(410);
  expect((await createSiteClient(host.port).get('http://shop.test/')).status).toBe(403);
  expect(instance.log).toHaveLength(1);
});

test('an episode that is over gets no more pages', async () => {
  const client = createSiteClient(host.port);
  const instance = host.begin(counter);
  await client.get(instance.startUrl);
  instance[Symbol.dispose]();
  expect((await client.get('http://shop.test/')).status).toBe(403);
});

test('a program that throws is a fault of its instance and of no other', async () => {
  const client = createSiteClient(host.port);
  using instance = host.begin(counter);
  await client.get(instance.startUrl);
  expect((await client.get('http://shop.test/fails')).status).toBe(500);
  expect(instance.fault).toMatchObject({ message: 'broken' });
  expect((await client.get('http://shop.test/')).status).toBe(200);
});

test('hosts are pinned at port 80, and a host that is not served is refused', async () => {
  expect(host.egress).toContainEqual({ host: 'id.other.test', port: 80, address: '127.0.0.1', toPort: host.port });
  expect((await createSiteClient(host.port).get('http://elsewhere.test/')).status).toBe(404);
  expect(() => host.begin({ ...counter, hosts: ['new.test'] })).toThrow(
    expect.objectContaining({ code: 'unknown-site' }),
  );
});

test('answers tell no time, are not kept, and may load nothing from elsewhere', async () => {
  using instance = host.begin(counter);
  const id = new URL(instance.startUrl).pathname;
  const headersOf = (name: string, path: string, cookie = ''): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) =>
      request({ host: '127.0.0.1', port: host.port, path, headers: { host: name, cookie } })
        .on('response', (response) => resolve({ ...response.resume().headers }))
        .on('error', reject)
        .end(),
    );
  const begun = await headersOf('shop.test', id);
  const cookie = String(begun['set-cookie']).split(';')[0];
  const { 'content-security-policy': policy, ...headers } = await headersOf('shop.test', '/', cookie);
  expect(headers).not.toHaveProperty('date');
  expect(headers).toMatchObject({ 'cache-control': 'no-store' });
  expect(policy).toMatch(/^default-src http:\/\/shop\.test http:\/\/www\.shop\.test http:\/\/id\.other\.test 'unsafe/);
});

test('a large form reaches the program and is not kept, and what is kept has an end', async () => {
  const client = createSiteClient(host.port);
  using instance = host.begin(counter);
  await client.get(instance.startUrl);
  const more = 'x'.repeat(100_000);
  expect((await client.post('http://shop.test/add', { by: '3', more })).body).toBe('<p>GET shop.test 3</p>');
  expect(instance.log[1]).toMatchObject({ method: 'POST', path: '/add', formLeftOut: true });
  expect(instance.log[1].form.size).toBe(0);
  const kept = 'x'.repeat(60_000);
  let sent = 0;
  for (; sent < 400; sent++) if ((await client.post('http://shop.test/none', { kept })).status === 429) break;
  expect(sent).toBeGreaterThan(200);
  expect(sent).toBeLessThan(300);
  expect(instance.log[3].form.get('kept')).toBe(kept);
  expect(instance.log.reduce((sum, { form }) => sum + form.toString().length, 0)).toBeLessThan(17 * 1024 * 1024);
  expect(instance.log).toHaveLength(3 + sent);
});
