// What customers do beside buying: look at orders, cancel, order again, send back, review, change their account.

import { quoted } from '../kit/oracle-cell.ts';
import { pickFitting, template, type Template } from '../kit/template.ts';
import { longDate } from '../kit/words.ts';
import { shopApp } from './app.ts';
import { RETURN_REASONS, shopWorld, type Order, type ShopState } from './world.ts';

const ORDER = (id: string): string => `await open('My account'); await open('Orders'); await open('${id}');`;

/** How a person names an order. */
function named(order: Order): string {
  return `the order of ${longDate(order.day)}`;
}

function orderOf(state: ShopState, id: string): Order {
  return state.orders.find((order) => order.id === id)!;
}

export const CUSTOMER_TASKS: readonly Template[] = [
  template(shopApp, 'order-total', 'train', (rng) => {
    const state = shopWorld(rng);
    const order = rng.pick(state.orders);
    return {
      state,
      start: '/',
      instruction: `How much did I pay in all for ${named(order)} at Fellside Outdoor? Answer with the amount only.`,
      params: { order: order.id },
      answer: { kind: 'money', pence: order.totalPence },
      oracle: `${ORDER(order.id)} repl.write(await read('#total'));`,
    };
  }),
  template(shopApp, 'order-cancel', 'train', (rng) => {
    const state = shopWorld(rng);
    const order = state.orders[rng.integer(0, 3)];
    order.status = 'Processing';
    return {
      state,
      start: '/',
      instruction: `Cancel ${named(order)}. The other orders stay.`,
      params: { order: order.id },
      goal: (after) => void (orderOf(after, order.id).status = 'Cancelled'),
      oracle: `${ORDER(order.id)} await leave(async () => { await press('button', 'Cancel order'); await answerDialog(true); });`,
    };
  }),
  template(shopApp, 'order-again', 'test', (rng) => {
    const state = shopWorld(rng);
    const order = rng.pick(state.orders);
    return {
      state,
      start: '/',
      instruction: `Put everything from ${named(order)} into my basket again. Do not order it yet.`,
      params: { order: order.id },
      goal: (after) => void (after.basket = structuredClone(orderOf(after, order.id).lines)),
      oracle: `${ORDER(order.id)} await submit('Order again');`,
    };
  }),
  template(shopApp, 'order-return', 'train', (rng) => {
    const state = shopWorld(rng);
    const order = rng.pick(state.orders);
    order.status = 'Delivered';
    const line = rng.pick(order.lines);
    const { name } = state.products.find(({ id }) => id === line.product)!;
    const reason = rng.pick(RETURN_REASONS);
    const label = [name, line.size, line.colour].filter((part) => part !== '').join(', ');
    return {
      state,
      start: '/',
      instruction: `I want to send back the ${name} from ${named(order)}. The reason is: ${reason.toLowerCase()}.`,
      params: { order: order.id, product: line.product, reason },
      goal: (after) => void after.returns.push({ id: 'R1', order: order.id, product: line.product, reason }),
      oracle: `${ORDER(order.id)} await open(${quoted(`Return ${label}`)}); await set('reason', '${reason}'); await submit('Send back');`,
    };
  }),
  template(shopApp, 'review-write', 'test', (rng) => {
    const state = shopWorld(rng);
    const { id, name } = rng.pick(state.products);
    const stars = rng.integer(1, 6);
    const text = rng.pick(['Light and warm.', 'The seams came apart.', 'Good value, but noisy in the wind.']);
    return {
      state,
      start: '/',
      instruction: `Write a review of the ${name}: ${stars} ${stars === 1 ? 'star' : 'stars'}, with the words: ${text}`,
      params: { name, stars, text },
      goal: (after) =>
        void after.products.find((one) => one.id === id)!.reviews.push({ id: 'r3', by: after.customer, stars, text }),
      oracle: `await fill('q', ${quoted(name)}); await submit('Search'); await open(${quoted(name)}); await click('summary'); await waitForElement('#text');
        await click('[name=stars][value="${stars}"]'); await fill('text', ${quoted(text)}); await submit('Publish');`,
    };
  }),
  template(shopApp, 'address-default', 'train', (rng) => {
    const state = shopWorld(rng);
    const { id, label, town } = pickFitting(rng, state.addresses, (one) => one.id !== state.defaultAddress);
    return {
      state,
      start: '/account',
      instruction: `Make “${label}”, the one in ${town}, my default delivery address.`,
      params: { label },
      goal: (after) => void (after.defaultAddress = id),
      oracle: `await open('Addresses'); await submit('Make ${label} the default');`,
    };
  }),
  template(shopApp, 'price-difference', 'test', (rng) => {
    const state = shopWorld(rng);
    const category = rng.pick(state.products).category;
    const [first, second] = rng
      .shuffle(state.products.filter((one) => one.category === category))
      .sort((a, b) => b.pence - a.pence);
    const price = (name: string): string =>
      `await fill('q', ${quoted(name)}); await submit('Search'); prices.push(Math.round(Number((await read('.cards li p')).slice(1)) * 100));`;
    return {
      state,
      start: '/search',
      instruction: `How much more does the ${first.name} cost than the ${second.name}? Answer with the amount only.`,
      params: { first: first.name, second: second.name },
      answer: { kind: 'money', pence: first.pence - second.pence },
      oracle: `const prices = []; ${price(first.name)} ${price(second.name)} repl.write('£' + ((prices[0] - prices[1]) / 100).toFixed(2));`,
    };
  }),
];
