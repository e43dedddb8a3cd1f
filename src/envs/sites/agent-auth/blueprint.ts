// One site, decided: its family and seed become a name, a look, words, fields, addresses. Everything that is drawn by lot
// is drawn here or in what is called here, so that pages are plain functions of it.

import { createRng, type Rng } from '../../../util/index.ts';
import { FAMILIES, SEEDS, type Family } from './families.ts';
import { chooseFields, type AuthAction, type Field } from './fields.ts';
import { chooseTheme, type Theme } from './theme.ts';
import { LANGUAGES, type Words } from './words/index.ts';

export type Place = { readonly host: string; readonly path: string };

export type Form = {
  readonly action: AuthAction;
  /** What ways to it, its heading and its button are called. */
  readonly name: string;
  readonly fields: readonly Field[];
  /** Where the form itself is served: a page, or a part that a page fetches. */
  readonly place: Place;
  /** Where it would be sent. */
  readonly sentTo: string;
};

export type Blueprint = {
  /** Stable: `family-07`. */
  readonly id: string;
  readonly family: Family;
  readonly seed: number;
  readonly brand: string;
  readonly host: string;
  /** Every host; the first is where it starts. */
  readonly hosts: readonly string[];
  /** Of who signs people in for this site, where that is somebody else. */
  readonly provider: string;
  readonly words: Words;
  readonly theme: Theme;
  readonly providerTheme: Theme;
  readonly asked: Form;
  /** Sign-up where sign-in is asked for, and the other way round. */
  readonly other: Form;
  /** The page that links lead to where it is not the form's own. */
  readonly page: Place;
  readonly otherPage: Place;
  readonly search: boolean;
  readonly newsletter: boolean;
  /** A field that no person sees, for machines that fill in everything. */
  readonly trap: 'none' | 'off-screen' | 'not-shown';
  readonly fieldNames: 'plain' | 'bracket' | 'numbered';
  /** Milliseconds that late parts take. */
  readonly lateMs: number;
};

const FIRST =
  'ald bren cor dal el fen gor hal iver jun kel lor mar nor ost pell quin ros sil tor ul ven wil yar zan'.split(' ');
const SECOND = 'a e i o u ari eno ila oma une ea io ora'.split(' ');
const THIRD =
  'bank care club dale desk farm field gate hub lane line mart mill press rail school stead tours works yard'.split(
    ' ',
  );

export function blueprints(): readonly Blueprint[] {
  const taken = new Set<string>();
  return FAMILIES.flatMap((family) => Array.from({ length: SEEDS }, (_, seed) => makeBlueprint(family, seed, taken)));
}

function makeBlueprint(family: Family, seed: number, taken: Set<string>): Blueprint {
  const rng = createRng('agent-auth', family.name, seed);
  const words = rng.fork('words').pick(LANGUAGES[family.languages]);
  const [name, provider] = [makeName(rng.fork('brand'), taken), makeName(rng.fork('provider'), taken)];
  const host = `${name}.test`;
  const away = family.container === 'sso' || family.container === 'chooser-sso';
  const formHost = away
    ? `${rng.pick(['login', 'id', 'accounts'])}.${provider}.test`
    : family.container === 'foreign-frame'
      ? `${rng.pick(['accounts', 'secure', 'id'])}.${host}`
      : host;
  const askedFor: AuthAction = seed % 2 === 0 ? 'sign-in' : 'sign-up';
  const [asked, other] = makeForms({ rng, family, words, askedFor, formHost });
  const paths = rng.fork('pages').shuffle(PAGES);
  const inPage = IN_PAGE.has(family.container);
  return {
    id: `${family.name}-${String(seed).padStart(2, '0')}`,
    family,
    seed,
    brand: `${name[0].toUpperCase()}${name.slice(1)}`,
    host,
    hosts: formHost === host ? [host] : [host, formHost],
    provider: `${provider[0].toUpperCase()}${provider.slice(1)}`,
    words,
    theme: chooseTheme(rng.fork('theme')),
    providerTheme: chooseTheme(rng.fork('provider-theme')),
    asked,
    other,
    page: inPage ? asked.place : { host: formHost === host || away ? formHost : host, path: paths[0] },
    otherPage: inPage ? other.place : { host: away ? formHost : host, path: paths[1] },
    search: family.decoys || rng.next() < 0.4,
    newsletter: family.decoys || rng.next() < 0.4,
    trap: rng.pick(['none', 'none', 'off-screen', 'not-shown'] as const),
    fieldNames: rng.pick(['plain', 'bracket', 'numbered'] as const),
    lateMs: rng.integer(500, 1_200),
  };
}

/** Where the form is on the page that links lead to. */
const IN_PAGE: ReadonlySet<string> = new Set(['page', 'sso', 'new-tab', 'twin', 'accordion']);

const PAGES = ['/portal', '/members', '/account', '/entry', '/desk', '/my', '/door', '/counter'];
const SIGN_IN = ['/login', '/signin', '/session/new', '/account/enter', '/auth/in', '/user/logon', '/members/login'];
const SIGN_UP = ['/register', '/signup', '/join', '/account/new', '/auth/up', '/user/create', '/members/apply'];

type FormsOptions = {
  readonly rng: Rng;
  readonly family: Family;
  readonly words: Words;
  readonly askedFor: AuthAction;
  readonly formHost: string;
};

function makeForms({ rng, family, words, askedFor, formHost }: FormsOptions): readonly [Form, Form] {
  const make = (action: AuthAction): Form => {
    const own = rng.fork(action);
    const path = own.pick(action === 'sign-in' ? SIGN_IN : SIGN_UP);
    return {
      action,
      name: own.pick(action === 'sign-in' ? words.signIn : words.signUp),
      fields: chooseFields({ action, words, shape: family.shape, rng: own }),
      place: { host: formHost, path },
      sentTo: `${path}/${own.pick(['submit', 'do', 'check', 'post'])}`,
    };
  };
  const forms = { 'sign-in': make('sign-in'), 'sign-up': make('sign-up') };
  return [forms[askedFor], forms[askedFor === 'sign-in' ? 'sign-up' : 'sign-in']];
}

/** Made up, and used once. */
function makeName(rng: Rng, taken: Set<string>): string {
  for (;;) {
    const name = `${rng.pick(FIRST)}${rng.pick(SECOND)}${rng.pick(THIRD)}`;
    if (taken.has(name)) continue;
    taken.add(name);
    return name;
  }
}
