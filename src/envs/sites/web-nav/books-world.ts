// The bookshop's goods and what one visitor keeps: drawn by seed, without pages.

import type { Rng } from '../../../util/index.ts';
import { code, distinct, firstNames, people } from '../kit/words.ts';

export type Review = { readonly id: string; readonly by: string; readonly stars: number; readonly text: string };

export type Book = {
  readonly id: string;
  readonly title: string;
  readonly author: string;
  readonly genre: string;
  readonly format: string;
  readonly pence: number;
  readonly year: number;
  readonly pages: number;
  readonly isbn: string;
  readonly reviews: Review[];
};

export type BooksState = {
  readonly books: Book[];
  /** The visitor's reading list. */
  list: { id: string }[];
};

export const GENRES = ['Crime', 'Fantasy', 'History', 'Poetry', 'Travel'];
export const FORMATS = ['Paperback', 'Hardback', 'Audiobook'];

const FIRST = 'Silent,Amber,Crooked,Distant,Hollow,Northern,Gilded,Restless,Salted,Broken,Winter,Paper'.split(',');
const SECOND = 'Harbour,Orchard,Compass,Lantern,Meridian,Chapel,River,Archive,Garden,Signal,Causeway,Almanac'.split(
  ',',
);
const OPINIONS = [
  'I read it in two evenings.',
  'The middle drags a little, the end does not.',
  'A present for my sister, who liked it.',
  'Well printed, and the maps help.',
  'Not what the cover promises.',
  'I will read more by this author.',
];

const BOOKS = 42;

export function booksWorld(rng: Rng): BooksState {
  const titles = rng.shuffle(FIRST.flatMap((first) => SECOND.map((second) => `The ${first} ${second}`)));
  const authors = people(rng, 14);
  // No two prices or years are the same, so that there is one cheapest and one oldest.
  const prices = distinct(rng, BOOKS, [60, 300]);
  const years = distinct(rng, BOOKS, [1931, 2026]);
  const books = prices.map((price, i): Book => {
    const readers = firstNames(rng, 3);
    return {
      id: `b${101 + i}`,
      title: titles[i],
      author: rng.pick(authors),
      genre: rng.pick(GENRES),
      format: rng.pick(FORMATS),
      pence: price * 10 - 1,
      year: years[i],
      pages: rng.integer(90, 700),
      isbn: `978-${rng.integer(0, 10)}-${rng.integer(10_000, 100_000)}-${rng.integer(100, 1_000)}-${rng.integer(0, 10)}`,
      reviews: readers.map((by, n) => ({
        id: `${i}-${n}`,
        by,
        stars: rng.integer(1, 6),
        text: `${rng.pick(OPINIONS)} Order ${code(rng, 5)}.`,
      })),
    };
  });
  return { books, list: [] };
}
