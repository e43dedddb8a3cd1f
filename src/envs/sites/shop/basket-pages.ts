// The basket, coupons, and a checkout in two steps.

import { markup, type Html } from '../html.ts';
import { htmlReply, notFound, redirect } from '../site.ts';
import { badRequest, type Handler } from '../kit/app.ts';
import { postButton } from '../kit/layout.ts';
import { pounds } from '../kit/words.ts';
import { shopPage } from './catalogue-pages.ts';
import { discountOf, placeOrder, SHIPPING, subtotalOf, totalOf, type Line, type ShopState } from './world.ts';

export function lineName(state: ShopState, { product, size, colour }: Line): string {
  const { name } = state.products.find(({ id }) => id === product)!;
  return [name, size, colour].filter((part) => part !== '').join(', ');
}

const basket: Handler<ShopState> = (state, { query }) => {
  const { basket: lines, coupon } = state;
  const subtotal = subtotalOf(state, lines);
  const discount = discountOf(state, lines, coupon);
  const body: Html =
    lines.length === 0
      ? markup`<p>Your basket is empty.</p>`
      : markup`<table><thead><tr><th>Item</th><th>Each</th><th>Quantity</th><th></th></tr></thead><tbody>
${lines.map((line) => {
  const name = lineName(state, line);
  const { pence } = state.products.find(({ id }) => id === line.product)!;
  return markup`<tr><td><a href="/product/${line.product}">${name}</a></td><td>${pounds(pence)}</td>
<td><form class="inline" method="post" action="/basket/${line.id}"><input aria-label="Quantity of ${name}" name="${line.id}" type="number" min="1" max="20" value="${line.quantity}"> <button aria-label="Update ${name}">Update</button></form></td>
<td>${postButton(`/basket/${line.id}/remove`, 'Remove', `Remove ${name}`)}</td></tr>\n`;
})}</tbody></table>
<p>Goods: ${pounds(subtotal)}</p>${discount > 0 && markup`<p>Coupon ${coupon}: −${pounds(discount)}</p>`}
${query.has('refused') && markup`<p role="alert" class="error">This coupon is not valid.</p>`}
<form method="post" action="/coupon"><p><label for="coupon">Coupon</label> <input id="coupon" name="coupon"> <button>Apply coupon</button></p></form>
<p><a href="/checkout">Checkout</a></p>`;
  return htmlReply(shopPage(state, { title: 'Basket', body }));
};

const changeQuantity: Handler<ShopState> = (state, { at, form }) => {
  const line = state.basket.find(({ id }) => id === at.line);
  const quantity = Number(form.get(at.line));
  if (line === undefined) return notFound();
  if (!Number.isInteger(quantity) || quantity < 1 || quantity > 20)
    return badRequest('A quantity is a number from 1 to 20.');
  line.quantity = quantity;
  return redirect('/basket');
};

const removeLine: Handler<ShopState> = (state, { at }) => {
  state.basket = state.basket.filter(({ id }) => id !== at.line);
  return redirect('/basket');
};

const applyCoupon: Handler<ShopState> = (state, { form }) => {
  const given = (form.get('coupon') ?? '').trim().toUpperCase();
  if (!state.coupons.some(({ id }) => id === given)) return redirect('/basket?refused=1');
  state.coupon = given;
  return redirect('/basket');
};

const checkout: Handler<ShopState> = (state) => {
  if (state.basket.length === 0) return redirect('/basket');
  const body = markup`<form action="/checkout/review">
<fieldset><legend>Deliver to</legend>${state.addresses.map(
    ({ id, label, street, town, postcode }) =>
      markup`<p><label class="tick"><input type="radio" name="address" value="${id}"${id === state.defaultAddress && markup` checked`} required> ${label}: ${street}, ${town}, ${postcode}</label></p>`,
  )}</fieldset>
<fieldset><legend>Shipping</legend>${Object.entries(SHIPPING).map(
    ([name, pence], i) =>
      markup`<p><label class="tick"><input type="radio" name="shipping" value="${name}"${i === 0 && markup` checked`}> ${name} (${pence === 0 ? 'free' : pounds(pence)})</label></p>`,
  )}</fieldset>
<p><label class="tick"><input type="checkbox" id="gift"> This is a present</label></p>
<p id="note" hidden><label for="giftNote">Words on the card</label> <input id="giftNote" name="giftNote"></p>
<button>Continue</button></form>`;
  const script = `document.querySelector('#gift').addEventListener('change', (event) => { document.querySelector('#note').hidden = !event.target.checked; });`;
  return htmlReply(shopPage(state, { title: 'Checkout', body, script }));
};

const reviewOrder: Handler<ShopState> = (state, { query }) => {
  const [address, shipping, giftNote] = ['address', 'shipping', 'giftNote'].map((name) => query.get(name) ?? '');
  const place = state.addresses.find(({ id }) => id === address);
  if (state.basket.length === 0 || place === undefined || !Object.hasOwn(SHIPPING, shipping))
    return redirect('/checkout');
  const body = markup`<ul>${state.basket.map((line) => markup`<li>${line.quantity} × ${lineName(state, line)}</li>`)}</ul>
<p>To ${place.label}: ${place.street}, ${place.town}</p><p>Shipping: ${shipping}</p>
<p>Total: <b id="total">${pounds(totalOf(state, { lines: state.basket, shipping, coupon: state.coupon }))}</b></p>
<form method="post" action="/orders"><input type="hidden" name="address" value="${address}"><input type="hidden" name="shipping" value="${shipping}"><input type="hidden" name="giftNote" value="${giftNote}">
<button>Place order</button></form>`;
  return htmlReply(shopPage(state, { title: 'Check your order', body }));
};

const order: Handler<ShopState> = (state, { form }) => {
  const [address, shipping, giftNote] = ['address', 'shipping', 'giftNote'].map((name) =>
    (form.get(name) ?? '').trim(),
  );
  if (
    state.basket.length === 0 ||
    !state.addresses.some(({ id }) => id === address) ||
    !Object.hasOwn(SHIPPING, shipping)
  ) {
    return badRequest('There is nothing to order, or nowhere to send it.');
  }
  const { id } = placeOrder(state, { address, shipping, giftNote });
  return redirect(`/order/${id}?placed=1`);
};

export const BASKET_ROUTES: Readonly<Record<string, Handler<ShopState>>> = {
  'GET /basket': basket,
  'POST /basket/:line': changeQuantity,
  'POST /basket/:line/remove': removeLine,
  'POST /coupon': applyCoupon,
  'GET /checkout': checkout,
  'GET /checkout/review': reviewOrder,
  'POST /orders': order,
};
