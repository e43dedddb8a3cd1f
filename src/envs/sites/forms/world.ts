// The town office: what was handed in, the citizen's record, and what its look-ups know. Drawn by seed, without pages.

import type { JsonObject } from '../../../core/index.ts';
import type { Rng } from '../../../util/index.ts';
import { address, people, some, towns } from '../kit/words.ts';

export type Handed = { readonly id: string; readonly form: string; readonly values: JsonObject };

export type OfficeState = {
  /** In the order in which they came. */
  submissions: Handed[];
  record: {
    name: string;
    street: string;
    town: string;
    postcode: string;
    phone: string;
    email: string;
    letters: string;
  };
  readonly takenNames: readonly string[];
  /** Branches by country. */
  readonly branches: { readonly [country: string]: readonly string[] };
  readonly places: readonly {
    readonly id: string;
    readonly postcode: string;
    readonly street: string;
    readonly town: string;
  }[];
};

/** Some of them are taken. */
export const USER_NAMES = ['heron', 'otter', 'linden', 'walnut', 'copper', 'sparrow'];
export const COUNTRIES = ['Denmark', 'France', 'Ireland', 'Portugal'];

export function officeWorld(rng: Rng): OfficeState {
  const names = people(rng, 6);
  const home = address(rng);
  const cities = towns(rng, 16);
  const streets = Array.from({ length: 3 }, () => address(rng));
  return {
    submissions: [],
    record: {
      name: names[0],
      ...home,
      phone: `0${rng.integer(1200, 1999)} ${rng.integer(100_000, 999_999)}`,
      email: `${names[0].toLowerCase().replace(' ', '.')}@post.example`,
      letters: rng.pick(['By post', 'By e-mail']),
    },
    takenNames: some(rng, USER_NAMES, 4),
    branches: Object.fromEntries(COUNTRIES.map((country, i) => [country, cities.slice(i * 4, i * 4 + 4)])),
    places: streets.flatMap(({ street, town, postcode }, i) =>
      [0, 1, 2, 3].map((n) => ({
        id: `h${i}${n}`,
        postcode,
        street: street.replace(/^\d+/, (number) => String(Number(number) + n * 2)),
        town,
      })),
    ),
  };
}

/** The next number is given by the server. */
export function handIn(state: OfficeState, form: string, values: JsonObject): Handed {
  const handed = { id: `N${state.submissions.length + 1}`, form, values };
  state.submissions.push(handed);
  return handed;
}
