// What visitors may write into forms and addresses breaks no page of ours: a fault of a site makes an episode invalid, and
// nobody who plays must be able to bring that about.

import { expect, it } from 'vitest';
import { createSiteClient, type SiteClient } from '../../../tests/suites/site-client.ts';
import type { JsonObject } from '../../core/index.ts';
import { createRng } from '../../util/index.ts';
import { officeApp } from './forms/app.ts';
import { officeWorld } from './forms/world.ts';
import type { App } from './kit/app.ts';
import { mailApp } from './mail/app.ts';
import { mailWorld } from './mail/world.ts';
import { openSiteHost } from './host.ts';
import { shopApp } from './shop/app.ts';
import { shopWorld } from './shop/world.ts';
import type { Site, SiteReply } from './site.ts';
import { accountApp } from './web-nav/account-app.ts';
import { accountWorld } from './web-nav/account-world.ts';
import { booksApp } from './web-nav/books-app.ts';
import { booksWorld } from './web-nav/books-world.ts';
import { filesApp } from './web-nav/files-app.ts';
import { filesWorld } from './web-nav/files-world.ts';

const rng = createRng('words');

type Sent = { readonly path: string; readonly query?: object; readonly form?: object };

function ask<S extends JsonObject>(app: App<S>, state: S, { path, query, form }: Sent): SiteReply {
  return app.respond(state, {
    method: form === undefined ? 'GET' : 'POST',
    host: app.host,
    path,
    query: new URLSearchParams({ ...query }),
    form: new URLSearchParams({ ...form }),
    body: new Uint8Array(),
    headers: {},
  });
}

it.each(['constructor', '__proto__', 'toString'])('names that every object has are no choices: %s', (name) => {
  expect(ask(booksApp, booksWorld(rng), { path: '/books', query: { sort: name } }).status).toBe(200);
  const shop = shopWorld(rng);
  expect(ask(shopApp, shop, { path: '/category/Tents', query: { sort: name } }).status).toBe(200);
  ask(shopApp, shop, { path: '/basket', form: { product: shop.products[18].id } });
  const order = { address: 'a1', shipping: name };
  expect(ask(shopApp, shop, { path: '/orders', form: order }).status).toBe(400);
  const office = officeWorld(rng);
  expect(ask(officeApp, office, { path: '/branches', query: { country: name } }).body).toBe('[]');
  const parcel = { country: name, branch: 'x', weight: '1' };
  expect(ask(officeApp, office, { path: '/form/parcel', form: parcel }).status).toBe(400);
  const animal = { kind: name, called: 'x', owner: 'x', chip: 'x' };
  expect(ask(officeApp, office, { path: '/form/animal', form: animal }).status).toBe(400);
  expect(ask(accountApp, accountWorld(rng), { path: '/privacy', form: { audience: name } }).status).toBe(400);
  expect(ask(mailApp, mailWorld(rng), { path: '/bulk', form: { action: name } }).status).toBe(400);
});

it('names and addresses that no header can hold are served all the same', async () => {
  const files = filesWorld(rng);
  const [{ id, folder, versions }] = files.files;
  const name = 'note “1”\r\nx: y.txt';
  ask(filesApp, files, { path: `/file/${id}`, form: { name, folder } });
  expect(files.files[0].name).toBe(name);
  const mails = mailWorld(rng);
  const bulk = { action: 'read', back: '/search?q=“€”\r\nx: y' };
  const served: readonly Site[] = [siteOf(filesApp, files), siteOf(mailApp, mails)];
  await using host = await openSiteHost(served);
  for (const [site, ask] of [
    [served[0], (client: SiteClient) => client.get(`http://${filesApp.host}/file/${id}/${versions[0].id}`)],
    [served[1], (client: SiteClient) => client.post(`http://${mailApp.host}/bulk`, bulk)],
  ] as const) {
    using instance = host.begin(site);
    const client = createSiteClient(host.port);
    await client.get(instance.startUrl);
    expect([(await ask(client)).status, instance.fault]).toEqual([200, undefined]);
  }
});

function siteOf<S extends JsonObject>({ host, respond }: App<S>, state: S): Site {
  return { hosts: [host], startUrl: `http://${host}/`, open: () => (request) => respond(state, request) };
}
