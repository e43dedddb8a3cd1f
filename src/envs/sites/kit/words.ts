// What generated sites are filled with: people, places, amounts and days, drawn by seed. Invented; nobody is meant.

import type { Rng } from '../../../util/index.ts';

const FIRST =
  'Amara Bruno Celia Dmitri Esther Farid Greta Hugo Imani Jonas Keiko Leon Mirela Nils Odile Priya Quentin Rosa Sven Talia Umar Vera Wiktor Yusra Zoltan'.split(
    ' ',
  );
const LAST =
  'Abbott Brandt Castell Dorsey Eriksen Fairley Grantham Holloway Ibarra Jessop Kovacs Lindqvist Marsh Novak Okafor Pellegrin Quarles Rushton Sorensen Tremaine Underhill Vasquez Whitlock Yardley Zeller'.split(
    ' ',
  );
const TOWNS =
  'Aldbourne Brackwell Coldmere Dunsford Eastmoor Fallowfield Grimsby-le-Moor Hartwick Inglestone Kelbrook Lowther Marlow-on-Wye Netherby Oxcombe Penrose Quernmore Redfern Stanhope Thornbury Upwell Westerham Yarrow Ashcombe Birchover'.split(
    ' ',
  );
const STREETS =
  'Mill Lane,Station Road,Orchard Close,Harbour Street,Chapel Row,Foundry Lane,Willow Walk,Market Place,Castle Hill,Bridge Street'.split(
    ',',
  );

/** So many different ones of a list. */
export function some<T>(rng: Rng, items: readonly T[], count: number): readonly T[] {
  return rng.shuffle(items).slice(0, count);
}

export function firstNames(rng: Rng, count: number): readonly string[] {
  return some(rng, FIRST, count);
}

/** Different in both names. */
export function people(rng: Rng, count: number): readonly string[] {
  const last = some(rng, LAST, count);
  return firstNames(rng, count).map((name, i) => `${name} ${last[i]}`);
}

export function towns(rng: Rng, count: number): readonly string[] {
  return some(rng, TOWNS, count);
}

export function address(rng: Rng): { readonly street: string; readonly town: string; readonly postcode: string } {
  const letters = 'ABCDEFGHJKLMNPRSTUWXY';
  const letter = (): string => letters[rng.integer(0, letters.length)];
  return {
    street: `${rng.integer(2, 180)} ${rng.pick(STREETS)}`,
    town: rng.pick(TOWNS),
    postcode: `${letter()}${letter()}${rng.integer(1, 20)} ${rng.integer(1, 10)}${letter()}${letter()}`,
  };
}

/** `count` different integers in [low, high). */
export function distinct(rng: Rng, count: number, [low, high]: readonly [number, number]): readonly number[] {
  const found = new Set<number>();
  while (found.size < count) found.add(rng.integer(low, high));
  return [...found];
}

export function pounds(pence: number): string {
  return `£${(pence / 100).toFixed(2)}`;
}

/** A day of 2027 as `YYYY-MM-DD`. */
export function someDay(rng: Rng): string {
  return `2027-${String(rng.integer(1, 13)).padStart(2, '0')}-${String(rng.integer(1, 29)).padStart(2, '0')}`;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** `2027-03-05` as `5 March 2027`. */
export function longDate(day: string): string {
  const [year, month, date] = day.split('-').map(Number);
  return `${date} ${MONTHS[month - 1]} ${year}`;
}

/** Upper-case letters and digits that nobody mixes up. */
export function code(rng: Rng, length: number): string {
  const characters = 'ACDEFHJKLMNPRTUVWXY3479';
  return Array.from({ length }, () => characters[rng.integer(0, characters.length)]).join('');
}

export function capital(text: string): string {
  return text[0].toUpperCase() + text.slice(1);
}
