// What a customer has: orders (to look at, cancel, order again, send back), addresses, the newsletter.

import { markup, raw } from '../html.ts';
import { htmlReply, notFound, redirect } from '../site.ts';
import { badRequest, type Handler } from '../kit/app.ts';
import { options, postButton } from '../kit/layout.ts';
import { pounds } from '../kit/words.ts';
import { lineName } from './basket-pages.ts';
import { shopPage } from './catalogue-pages.ts';
import { RETURN_REASONS, type ShopState } from './world.ts';

const ASK = `
for (const form of document.querySelectorAll('form[data-ask]')) form.addEventListener('submit', (event) => {
  if (!confirm(form.dataset.ask)) event.preventDefault();
});`;

const account: Handler<ShopState> = (state) =>
  htmlReply(
    shopPage(state, {
      title: 'My account',
      body: markup`<p>Signed in as ${state.customer}</p><ul><li><a href="/orders">Orders</a></li><li><a href="/addresses">Addresses</a></li><li><a href="/newsletter">Newsletter</a></li></ul>`,
    }),
  );

const orders: Handler<ShopState> = (state) =>
  htmlReply(
    shopPage(state, {
      title: 'Orders',
      body: markup`<table><thead><tr><th>Order</th><th>Day</th><th>Status</th></tr></thead><tbody>
${state.orders.map(({ id, day, status }) => markup`<tr><td><a href="/order/${id}">${id}</a></td><td>${day}</td><td>${status}</td></tr>\n`)}</tbody></table>`,
    }),
  );

const order: Handler<ShopState> = (state, { at, query }) => {
  const one = state.orders.find(({ id }) => id === at.id);
  if (one === undefined) return notFound();
  const place = state.addresses.find(({ id }) => id === one.address)!;
  const body = markup`${query.has('placed') && markup`<p role="status" class="ok">Thank you for your order.</p>`}
<p>Ordered on ${one.day}. Status: <b id="status">${one.status}</b></p><p>To ${place.label}, ${one.shipping}</p>
<table><thead><tr><th>Item</th><th>Quantity</th><th></th></tr></thead><tbody>
${one.lines.map((line) => {
  const sent = state.returns.some((other) => other.order === one.id && other.product === line.product);
  return markup`<tr><td>${lineName(state, line)}</td><td>${line.quantity}</td><td>${one.status === 'Delivered' && !sent && markup`<a href="/order/${one.id}/return/${line.product}">Return ${lineName(state, line)}</a>`}</td></tr>\n`;
})}</tbody></table>
<p>Total: <b id="total">${pounds(one.totalPence)}</b></p>
${postButton(`/order/${one.id}/again`, 'Order again')}
${one.status === 'Processing' && markup`<form class="inline" method="post" action="/order/${one.id}/cancel" data-ask="Cancel order ${one.id}?"><button>Cancel order</button></form>`}`;
  return htmlReply(shopPage(state, { title: `Order ${one.id}`, body, script: ASK }));
};

const cancel: Handler<ShopState> = (state, { at }) => {
  const one = state.orders.find(({ id }) => id === at.id);
  if (one === undefined) return notFound();
  if (one.status !== 'Processing') return badRequest('This order can no longer be cancelled.');
  one.status = 'Cancelled';
  return redirect(`/order/${one.id}`);
};

const again: Handler<ShopState> = (state, { at }) => {
  const one = state.orders.find(({ id }) => id === at.id);
  if (one === undefined) return notFound();
  for (const line of one.lines) {
    const there = state.basket.find(({ id }) => id === line.id);
    if (there === undefined) state.basket.push({ ...line });
    else there.quantity += line.quantity;
  }
  return redirect('/basket');
};

const returnForm: Handler<ShopState> = (state, { at }) => {
  const one = state.orders.find(({ id }) => id === at.id);
  const line = one?.lines.find(({ product }) => product === at.product);
  if (one === undefined || line === undefined) return notFound();
  const body = markup`<p>${lineName(state, line)}, from order ${one.id}</p><form method="post" action="/order/${one.id}/return/${line.product}">
<p><label for="reason">Reason</label> <select id="reason" name="reason" required><option value="">Choose</option>${options(RETURN_REASONS)}</select></p><button>Send back</button></form>`;
  return htmlReply(shopPage(state, { title: 'Return', body }));
};

const sendBack: Handler<ShopState> = (state, { at, form }) => {
  const one = state.orders.find(({ id }) => id === at.id);
  const line = one?.lines.find(({ product }) => product === at.product);
  const reason = form.get('reason') ?? '';
  if (one === undefined || line === undefined) return notFound();
  if (one.status !== 'Delivered' || !RETURN_REASONS.includes(reason)) return badRequest('This cannot be sent back so.');
  state.returns.push({ id: `R${state.returns.length + 1}`, order: one.id, product: line.product, reason });
  return redirect(`/order/${one.id}`);
};

const addresses: Handler<ShopState> = (state) =>
  htmlReply(
    shopPage(state, {
      title: 'Addresses',
      body: markup`<ul>${state.addresses.map(
        ({ id, label, street, town, postcode }) =>
          markup`<li>${label}: ${street}, ${town}, ${postcode} ${id === state.defaultAddress ? markup`<b>Default</b>` : postButton(`/addresses/${id}/default`, 'Make default', `Make ${label} the default`)}</li>`,
      )}</ul>`,
    }),
  );

const makeDefault: Handler<ShopState> = (state, { at }) => {
  if (!state.addresses.some(({ id }) => id === at.id)) return notFound();
  state.defaultAddress = at.id;
  return redirect('/addresses');
};

const newsletter: Handler<ShopState> = (state) =>
  htmlReply(
    shopPage(state, {
      title: 'Newsletter',
      body: markup`<form method="post" action="/newsletter"><p><label class="tick"><input type="checkbox" name="wanted"${state.newsletter && raw(' checked')}> Send me the newsletter</label></p><button>Save</button></form>`,
    }),
  );

const setNewsletter: Handler<ShopState> = (state, { form }) => {
  state.newsletter = form.has('wanted');
  return redirect('/newsletter');
};

export const ACCOUNT_ROUTES: Readonly<Record<string, Handler<ShopState>>> = {
  'GET /account': account,
  'GET /orders': orders,
  'GET /order/:id': order,
  'POST /order/:id/cancel': cancel,
  'POST /order/:id/again': again,
  'GET /order/:id/return/:product': returnForm,
  'POST /order/:id/return/:product': sendBack,
  'GET /addresses': addresses,
  'POST /addresses/:id/default': makeDefault,
  'GET /newsletter': newsletter,
  'POST /newsletter': setNewsletter,
};
