// The shop's front: home, a category with filters and order, search, a product with its choices and reviews.

import { markup, type Html } from '../html.ts';
import { htmlReply, notFound, redirect } from '../site.ts';
import { badRequest, type Handler } from '../kit/app.ts';
import { layout, options, pageLinks, pageNumber, type PageParts } from '../kit/layout.ts';
import { pounds } from '../kit/words.ts';
import { CATEGORIES, COLOURS, lineId, type Product, type ShopState } from './world.ts';

const PAGE = 9;
const SORTS: Readonly<Record<string, (a: Product, b: Product) => number>> = {
  Name: (a, b) => (a.name < b.name ? -1 : 1),
  'Price, low to high': (a, b) => a.pence - b.pence,
  'Price, high to low': (a, b) => b.pence - a.pence,
  'Best rated': (a, b) => b.rating - a.rating,
};

export function shopPage(state: ShopState, parts: PageParts): Html {
  const look = {
    site: 'Fellside Outdoor',
    accent: '#35524a',
    links: [...CATEGORIES.map((name) => [`/category/${name}`, name] as const), ['/account', 'My account'] as const],
  };
  const count = state.basket.reduce((sum, { quantity }) => sum + quantity, 0);
  return layout(look, { corner: markup`<a href="/basket">Basket (${count})</a>`, ...parts });
}

function searchForm(words = ''): Html {
  return markup`<form action="/search" role="search"><label for="q">Search the shop</label> <input id="q" name="q" type="search" value="${words}"> <button>Search</button></form>`;
}

function cards(products: readonly Product[]): Html {
  return markup`<ul class="cards">${products.map(
    ({ id, name, pence, rating }) =>
      markup`<li><h2><a href="/product/${id}">${name}</a></h2><p>${pounds(pence)}</p><p>${(rating / 10).toFixed(1)} of 5 stars</p></li>\n`,
  )}</ul>`;
}

const home: Handler<ShopState> = (state) =>
  htmlReply(
    shopPage(state, {
      title: 'Everything for outside',
      body: markup`${searchForm()}<h2>Favourites</h2>${cards(state.products.filter((_one, i) => i % 7 === 0))}`,
    }),
  );

const category: Handler<ShopState> = (state, { at, query }) => {
  if (!CATEGORIES.includes(at.name)) return notFound();
  const [colour, sort] = [query.get('colour') ?? 'Any', query.get('sort') ?? 'Name'];
  const most = Number(query.get('most') ?? 0) * 100;
  const found = state.products
    .filter((one) => one.category === at.name)
    .filter((one) => colour === 'Any' || one.colours.includes(colour))
    .filter((one) => !(most > 0) || one.pence <= most)
    .sort(SORTS[Object.hasOwn(SORTS, sort) ? sort : 'Name']);
  const body = markup`<form><p><label for="colour">Colour</label> <select id="colour" name="colour">${options(['Any', ...COLOURS], colour)}</select>
<label for="most">At most £</label> <input id="most" name="most" type="number" min="0" value="${query.get('most') ?? ''}">
<label for="sort">Order by</label> <select id="sort" name="sort">${options(Object.keys(SORTS), sort)}</select> <button>Apply</button></p></form>
<p role="status">${found.length} found</p>${cards(found)}`;
  return htmlReply(shopPage(state, { title: at.name, body }));
};

const search: Handler<ShopState> = (state, { query }) => {
  const words = (query.get('q') ?? '').trim();
  const found = state.products
    .filter(({ name }) => name.toLowerCase().includes(words.toLowerCase()))
    .sort(SORTS['Name']);
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const page = pageNumber(query.get('page'), pages);
  const at = (number: number): string =>
    `/search?${new URLSearchParams({ q: words, page: String(number) }).toString()}`;
  const body = markup`${searchForm(words)}<p role="status">${found.length} found</p>${cards(found.slice((page - 1) * PAGE, page * PAGE))}${pages > 1 && pageLinks(page, pages, at)}`;
  return htmlReply(shopPage(state, { title: 'Search', body }));
};

const product: Handler<ShopState> = (state, { at }) => {
  const one = state.products.find(({ id }) => id === at.id);
  if (one === undefined) return notFound();
  const choice = (name: string, label: string, values: readonly string[]): Html | false =>
    values.length > 0 &&
    markup`<p><label for="${name}">${label}</label> <select id="${name}" name="${name}" required><option value="">Choose</option>${options(values)}</select></p>`;
  const body = markup`<p>${pounds(one.pence)} · ${(one.rating / 10).toFixed(1)} of 5 stars</p>
<form method="post" action="/basket">
<input type="hidden" name="product" value="${one.id}">
${choice('size', 'Size', one.sizes)}${choice('colour', 'Colour', one.colours)}
<p><label for="quantity">Quantity</label> <input id="quantity" name="quantity" type="number" min="1" max="20" value="1"></p>
<button>Add to basket</button></form>
<h2>Reviews</h2>
${one.reviews.map(({ by, stars, text }) => markup`<article><h3>${by}</h3><p>${stars} of 5 stars</p><p>${text}</p></article>`)}
<details><summary>Write a review</summary><form method="post" action="/product/${one.id}/reviews">
<fieldset><legend>Stars</legend>${[1, 2, 3, 4, 5].map((n) => markup`<label class="tick"><input type="radio" name="stars" value="${n}" required> ${n}</label> `)}</fieldset>
<p><label for="text">Your review</label><br><textarea id="text" name="text" rows="3" cols="50" required></textarea></p><button>Publish</button></form></details>`;
  return htmlReply(shopPage(state, { title: one.name, body }));
};

const review: Handler<ShopState> = (state, { at, form }) => {
  const one = state.products.find(({ id }) => id === at.id);
  const [stars, text] = [Number(form.get('stars')), (form.get('text') ?? '').trim()];
  if (one === undefined) return notFound();
  if (!Number.isInteger(stars) || stars < 1 || stars > 5 || text === '')
    return badRequest('A review needs stars and words.');
  one.reviews.push({ id: `r${one.reviews.length + 1}`, by: state.customer, stars, text });
  return redirect(`/product/${one.id}`);
};

const addToBasket: Handler<ShopState> = (state, { form }) => {
  const one = state.products.find(({ id }) => id === form.get('product'));
  const [size, colour] = [form.get('size') ?? '', form.get('colour') ?? ''];
  const quantity = Number(form.get('quantity') ?? 1);
  if (one === undefined) return notFound();
  const chosen = (value: string, values: readonly string[]): boolean =>
    values.length === 0 ? value === '' : values.includes(value);
  if (
    !chosen(size, one.sizes) ||
    !chosen(colour, one.colours) ||
    !Number.isInteger(quantity) ||
    quantity < 1 ||
    quantity > 20
  ) {
    return badRequest('Choose a size, a colour and a quantity.');
  }
  const id = lineId(one.id, size, colour);
  const line = state.basket.find((other) => other.id === id);
  if (line === undefined) state.basket.push({ id, product: one.id, size, colour, quantity });
  else line.quantity += quantity;
  return redirect('/basket');
};

export const CATALOGUE_ROUTES: Readonly<Record<string, Handler<ShopState>>> = {
  'GET /': home,
  'GET /category/:name': category,
  'GET /search': search,
  'GET /product/:id': product,
  'POST /product/:id/reviews': review,
  'POST /basket': addToBasket,
};
