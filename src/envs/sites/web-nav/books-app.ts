// The bookshop: search with suggestions, filters, sorting, pages of results, a book's page with reviews and a details page
// that opens in another tab, and a reading list.

import { markup, raw, type Html } from '../html.ts';
import { htmlReply, jsonReply, notFound, redirect } from '../site.ts';
import { routes, type App } from '../kit/app.ts';
import { layout, options, pageLinks, pageNumber, postButton, type PageParts } from '../kit/layout.ts';
import { pounds } from '../kit/words.ts';
import { FORMATS, GENRES, type Book, type BooksState } from './books-world.ts';

const PAGE = 8;
const SORTS: Readonly<Record<string, (a: Book, b: Book) => number>> = {
  'Title, A to Z': (a, b) => (a.title < b.title ? -1 : 1),
  'Price, lowest first': (a, b) => a.pence - b.pence,
  'Price, highest first': (a, b) => b.pence - a.pence,
  'Newest first': (a, b) => b.year - a.year,
};

function page(state: BooksState, parts: PageParts): Html {
  const look = {
    site: 'Quillside Books',
    accent: '#5b3a29',
    links: [
      ['/books', 'All books'],
      ['/list', 'Reading list'],
      ['/help', 'Help'],
    ] as const,
  };
  return layout(look, { corner: markup`<a href="/list">Reading list (${state.list.length})</a>`, ...parts });
}

const SUGGEST = `
const field = document.querySelector('#q'), box = document.querySelector('#suggestions');
let asked = 0;
const show = (books) => {
  box.replaceChildren(...books.map((book) => {
    const option = document.createElement('li');
    option.setAttribute('role', 'option');
    option.textContent = book.title;
    option.addEventListener('mousedown', (event) => { event.preventDefault(); location.href = '/book/' + book.id; });
    return option;
  }));
  box.hidden = books.length === 0;
  field.setAttribute('aria-expanded', String(books.length > 0));
};
field.addEventListener('input', async () => {
  const turn = ++asked;
  const answer = await fetch('/suggest?q=' + encodeURIComponent(field.value));
  const books = await answer.json();
  if (turn === asked) show(books);
});
field.addEventListener('blur', () => show([]));`;

function searchForm(): Html {
  return markup`<form action="/books" role="search">
    <label for="q">Search</label>
    <input id="q" name="q" type="search" role="combobox" aria-expanded="false" aria-controls="suggestions" autocomplete="off" />
    <button>Search</button>
    <ul id="suggestions" role="listbox" aria-label="Suggestions" hidden></ul>
  </form>`;
}

function results(state: BooksState, query: URLSearchParams): Html {
  const [q, genre, sort] = ['q', 'genre', 'sort'].map((name) => query.get(name) ?? '');
  const formats = query.getAll('format');
  const under = Number(query.get('under') ?? 0) * 100;
  const found = state.books
    .filter((book) => `${book.title} ${book.author}`.toLowerCase().includes(q.trim().toLowerCase()))
    .filter((book) => genre === '' || genre === 'Any' || book.genre === genre)
    .filter((book) => formats.length === 0 || formats.includes(book.format))
    .filter((book) => !(under > 0) || book.pence < under)
    .sort(SORTS[Object.hasOwn(SORTS, sort) ? sort : 'Title, A to Z']);
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const now = pageNumber(query.get('page'), pages);
  const at = (number: number): string => {
    const next = new URLSearchParams(query);
    next.set('page', String(number));
    return `/books?${next.toString()}`;
  };
  return markup`<form action="/books" id="filters">
      <fieldset>
        <legend>Narrow down</legend>
        <p><label for="f-q">Words</label> <input id="f-q" name="q" value="${q}" /></p>
        <p><label for="genre">Genre</label> <select id="genre" name="genre">${options(['Any', ...GENRES], genre)}</select></p>
        <p>
          Format:
          ${FORMATS.map(
            (format) =>
              markup`<label class="tick"><input type="checkbox" name="format" value="${format}" ${formats.includes(format) && raw('checked')} /> ${format}</label> `,
          )}
        </p>
        <p><label for="under">Cheaper than £</label> <input id="under" name="under" type="number" min="0" value="${query.get('under') ?? ''}" /></p>
        <p><label for="sort">Sort by</label> <select id="sort" name="sort">${options(Object.keys(SORTS), sort)}</select></p>
        <button>Apply</button>
      </fieldset>
    </form>
    <p role="status">${found.length} ${found.length === 1 ? 'book' : 'books'}, page ${now} of ${pages}</p>
    <ul class="cards">
      ${found.slice((now - 1) * PAGE, now * PAGE).map(
        (book) =>
          markup`<li>
            <h2><a href="/book/${book.id}">${book.title}</a></h2>
            <p>${book.author} · ${book.genre} · ${book.format}</p>
            <p>${pounds(book.pence)}</p>
          </li>`,
      )}
    </ul>
    ${pages > 1 && pageLinks(now, pages, at)}`;
}

function bookPage(state: BooksState, book: Book): Html {
  const kept = state.list.some(({ id }) => id === book.id);
  return markup`<p>by ${book.author}</p>
    <dl>
      <dt>Genre</dt>
      <dd>${book.genre}</dd>
      <dt>Format</dt>
      <dd>${book.format}</dd>
      <dt>Published</dt>
      <dd>${book.year}</dd>
      <dt>Price</dt>
      <dd>${pounds(book.pence)}</dd>
    </dl>
    <p>${kept ? markup`On your reading list. ${postButton(`/list/${book.id}/remove`, 'Remove from reading list')}` : postButton(`/list/${book.id}`, 'Add to reading list')}</p>
    <p><a href="/book/${book.id}/details" target="_blank">Bibliographic details</a></p>
    <h2>Reviews</h2>
    ${book.reviews.map(
      ({ by, stars, text }) =>
        markup`<article>
          <h3>${by}</h3>
          <p>${stars} of 5 stars</p>
          <p>${text}</p>
        </article>`,
    )}`;
}

export const booksApp: App<BooksState> = {
  host: 'www.quillside.test',
  respond: routes<BooksState>({
    'GET /': (state) =>
      htmlReply(
        page(state, {
          title: 'Books, new and old',
          body: markup`${searchForm()}
            <h2>Genres</h2>
            <ul>
              ${GENRES.map((genre) => markup`<li><a href="/books?genre=${genre}">${genre}</a></li>`)}
            </ul>`,
          script: SUGGEST,
        }),
      ),
    'GET /books': (state, { query }) => htmlReply(page(state, { title: 'All books', body: results(state, query) })),
    'GET /suggest': (state, { query }) => {
      const words = (query.get('q') ?? '').trim().toLowerCase();
      const found = words === '' ? [] : state.books.filter(({ title }) => title.toLowerCase().includes(words));
      return jsonReply(found.slice(0, 6).map(({ id, title }) => ({ id, title })));
    },
    'GET /book/:id': (state, { at }) => {
      const book = state.books.find(({ id }) => id === at.id);
      return book === undefined
        ? notFound()
        : htmlReply(page(state, { title: book.title, body: bookPage(state, book) }));
    },
    'GET /book/:id/details': (state, { at }) => {
      const book = state.books.find(({ id }) => id === at.id);
      if (book === undefined) return notFound();
      const body = markup`<table>
        <tr><th scope="row">ISBN</th><td id="isbn">${book.isbn}</td></tr>
        <tr><th scope="row">Pages</th><td>${book.pages}</td></tr>
      </table>`;
      return htmlReply(page(state, { title: `Details of ${book.title}`, body }));
    },
    'GET /list': (state) =>
      htmlReply(
        page(state, {
          title: 'Reading list',
          body: markup`${state.list.length === 0 && markup`<p>Your reading list is empty.</p>`}
            <ul>
              ${state.list.map(({ id }) => {
                const { title } = state.books.find((book) => book.id === id)!;
                return markup`<li><a href="/book/${id}">${title}</a> ${postButton(`/list/${id}/remove`, 'Remove', `Remove ${title}`)}</li>`;
              })}
            </ul>`,
        }),
      ),
    'POST /list/:id': (state, { at }) => {
      if (!state.books.some(({ id }) => id === at.id)) return notFound();
      if (!state.list.some(({ id }) => id === at.id)) state.list.push({ id: at.id });
      return redirect('/list');
    },
    'POST /list/:id/remove': (state, { at }) => {
      state.list = state.list.filter(({ id }) => id !== at.id);
      return redirect('/list');
    },
    'GET /help': (state) =>
      htmlReply(
        page(state, { title: 'Help', body: markup`<p>Prices include tax. The reading list is kept for you.</p>` }),
      ),
  }),
};
