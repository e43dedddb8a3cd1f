// An outdoor shop: goods with sizes and colours, a basket, orders, addresses, returns. Drawn by seed, without pages. What an
// order costs is reckoned here, so that pages and verifiers cannot disagree.

import type { Rng } from '../../../util/index.ts';
import { address, code, distinct, firstNames, people, some } from '../kit/words.ts';

export const CATEGORIES = ['Tents', 'Jackets', 'Boots', 'Lamps', 'Bottles', 'Backpacks'];
export const SIZES = ['S', 'M', 'L', 'XL'];
export const COLOURS = ['Black', 'Moss', 'Rust', 'Sky'];
/** Price in pence. */
export const SHIPPING: Readonly<Record<string, number>> = { Standard: 395, Express: 895, 'Collect in store': 0 };
export const RETURN_REASONS = ['Too small', 'Too large', 'Damaged', 'Not as described', 'Changed my mind'];

export type Product = {
  readonly id: string;
  readonly name: string;
  readonly category: string;
  readonly pence: number;
  /** Tenths of a star. */
  readonly rating: number;
  /** Empty where there is but one. */
  readonly sizes: readonly string[];
  readonly colours: readonly string[];
  reviews: { id: string; by: string; stars: number; text: string }[];
};

/** A line is a product in one size and colour; its id says which. */
export type Line = { id: string; product: string; size: string; colour: string; quantity: number };
export type Address = {
  readonly id: string;
  readonly label: string;
  readonly street: string;
  readonly town: string;
  readonly postcode: string;
};
export type Order = {
  id: string;
  day: string;
  status: string;
  lines: Line[];
  address: string;
  shipping: string;
  giftNote: string;
  coupon: string;
  totalPence: number;
};

export type ShopState = {
  products: Product[];
  readonly customer: string;
  addresses: Address[];
  defaultAddress: string;
  basket: Line[];
  /** Applied to the basket; empty where none is. */
  coupon: string;
  readonly coupons: { readonly id: string; readonly percent: number }[];
  orders: Order[];
  returns: { id: string; order: string; product: string; reason: string }[];
  newsletter: boolean;
};

const FIRST = 'Alder,Basalt,Corrie,Drift,Ember,Fjord,Granite,Heron,Islay,Juniper,Kestrel,Lichen'.split(',');
const LAST: Readonly<Record<string, string>> = {
  Tents: 'Tent',
  Jackets: 'Jacket',
  Boots: 'Boots',
  Lamps: 'Lamp',
  Bottles: 'Bottle',
  Backpacks: 'Backpack',
};
const OPINIONS = [
  'Held up well on a wet weekend.',
  'Heavier than I thought.',
  'Exactly what I needed.',
  'The zip sticks a little.',
  'Would buy it again.',
];
const STATUSES = ['Processing', 'Shipped', 'Delivered'];

export function shopWorld(rng: Rng): ShopState {
  const prices = distinct(rng, 36, [120, 1_900]);
  const products = CATEGORIES.flatMap((category, c) => {
    const ratings = distinct(rng, 6, [21, 50]);
    return some(rng, FIRST, 6).map((first, i): Product => {
      const worn = category === 'Jackets' || category === 'Boots';
      return {
        id: `p${c}${i}`,
        name: `${first} ${LAST[category]}`,
        category,
        pence: prices[c * 6 + i] * 10 - 5,
        rating: ratings[i],
        sizes: worn ? SIZES : [],
        colours: category === 'Lamps' ? [] : some(rng, COLOURS, 3),
        reviews: firstNames(rng, 2).map((by, n) => ({
          id: `r${n + 1}`,
          by,
          stars: rng.integer(2, 6),
          text: rng.pick(OPINIONS),
        })),
      };
    });
  });
  const addresses = rng
    .shuffle(['Home', 'Work', 'Parents'])
    .map((label, i) => ({ id: `a${i + 1}`, label, ...address(rng) }));
  const state: ShopState = {
    products,
    customer: people(rng, 1)[0],
    addresses,
    defaultAddress: rng.pick(addresses).id,
    basket: [],
    coupon: '',
    coupons: [
      { id: `${code(rng, 5)}10`, percent: 10 },
      { id: `${code(rng, 5)}25`, percent: 25 },
    ],
    orders: [],
    returns: [],
    newsletter: rng.next() < 0.5,
  };
  const numbers = distinct(rng, 5, [10_000, 99_000]);
  state.orders = numbers.map((number, i) => {
    const lines = some(rng, products, rng.integer(1, 4)).map((product) => lineOf(product, { rng }));
    const part = { lines, shipping: rng.pick(Object.keys(SHIPPING)), coupon: '' };
    return {
      id: `${number}`,
      day: `2026-${String(12 - i).padStart(2, '0')}-${String(rng.integer(10, 29))}`,
      status: i === 0 ? 'Processing' : rng.pick(STATUSES),
      ...part,
      address: rng.pick(addresses).id,
      giftNote: '',
      totalPence: totalOf(state, part),
    };
  });
  return state;
}

/** One of a product, in a size and colour that it has. */
export function lineOf(
  product: Product,
  { rng, quantity = 1 }: { readonly rng: Rng; readonly quantity?: number },
): Line {
  const size = product.sizes.length === 0 ? '' : rng.pick(product.sizes);
  const colour = product.colours.length === 0 ? '' : rng.pick(product.colours);
  return { id: lineId(product.id, size, colour), product: product.id, size, colour, quantity };
}

export function lineId(product: string, size: string, colour: string): string {
  return [product, size, colour].filter((part) => part !== '').join('-');
}

export function subtotalOf({ products }: Pick<ShopState, 'products'>, lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + line.quantity * products.find(({ id }) => id === line.product)!.pence, 0);
}

export function discountOf(
  state: Pick<ShopState, 'products' | 'coupons'>,
  lines: readonly Line[],
  coupon: string,
): number {
  const percent = state.coupons.find(({ id }) => id === coupon)?.percent ?? 0;
  return Math.round((subtotalOf(state, lines) * percent) / 100);
}

export function totalOf(
  state: Pick<ShopState, 'products' | 'coupons'>,
  { lines, shipping, coupon }: Pick<Order, 'lines' | 'shipping' | 'coupon'>,
): number {
  return subtotalOf(state, lines) - discountOf(state, lines, coupon) + SHIPPING[shipping];
}

export type Delivery = Pick<Order, 'address' | 'shipping' | 'giftNote'>;

/** Turns the basket into an order: what the last button of the checkout does. */
export function placeOrder(state: ShopState, delivery: Delivery): Order {
  const id = String(Math.max(...state.orders.map((order) => Number(order.id))) + 1);
  const { basket: lines, coupon } = state;
  const order = { id, day: '2027-01-04', status: 'Processing', lines, coupon, ...delivery, totalPence: 0 };
  order.totalPence = totalOf(state, order);
  state.orders.push(order);
  state.basket = [];
  state.coupon = '';
  return order;
}
