// The fields of a form: what a site asks for, how each is labelled, and by which names and types a person would tell of
// it. Pure, by seed.

import type { Rng } from '../../../util/index.ts';
import type { Shape } from './families.ts';
import type { FieldKind, Words } from './words/index.ts';

export type AuthAction = 'sign-in' | 'sign-up';

export const FIELD_TYPES = [
  'text',
  'email',
  'tel',
  'password',
  'number',
  'date',
  'checkbox',
  'radio',
  'select',
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** `both`: a label to be seen, and another name for who cannot see it. */
export type LabelStyle = 'above' | 'around' | 'after' | 'reference' | 'placeholder' | 'both';

export type Field = {
  readonly kind: FieldKind;
  /** Which of several controls of a kind; 0 where there is one. */
  readonly part: number;
  readonly control: FieldType;
  readonly label: string;
  readonly style: LabelStyle;
  readonly secondName?: string;
  /** Said beside the label in brackets. */
  readonly note?: string;
  readonly required: boolean;
  /** An example in an empty field; no name of it. */
  readonly example?: string;
  /** Of the group that it is part of. */
  readonly legend?: string;
  readonly options?: readonly string[];
  /** Types that are right to say; the control's own is among them. */
  readonly types: readonly FieldType[];
};

export type ChooseOptions = {
  readonly action: AuthAction;
  readonly words: Words;
  readonly shape: Shape;
  readonly rng: Rng;
};

export function chooseFields(options: ChooseOptions): readonly Field[] {
  const { action, shape, rng } = options;
  const kinds = action === 'sign-in' ? signInKinds(rng, shape) : signUpKinds(rng, shape);
  const usual: LabelStyle =
    shape === 'placeholders' ? 'placeholder' : rng.pick(['above', 'above', 'around', 'after', 'reference', 'both']);
  return kinds.flatMap((kind) => makeField(kind, usual, options));
}

function signInKinds(rng: Rng, shape: Shape): readonly FieldKind[] {
  const who: FieldKind = rng.pick([
    ...(['email', 'email', 'email', 'username', 'username'] as const),
    ...(['emailOrUsername', 'emailOrUsername', 'phone', 'customerNumber', 'customerNumber'] as const),
  ]);
  const remember = chance(rng, 0.45) ? (['remember'] as const) : [];
  const before: readonly FieldKind[] = chance(rng, 0.15) ? ['company'] : [];
  const after: readonly FieldKind[] = who === 'customerNumber' && chance(rng, 0.5) ? ['postcode'] : [];
  if (shape === 'steps') return [...before, who, ...remember];
  const long: readonly FieldKind[] = shape === 'long' ? ['birthDate', 'country'] : [];
  return [...before, who, ...after, ...long, 'password', ...remember];
}

function signUpKinds(rng: Rng, shape: Shape): readonly FieldKind[] {
  const more = shape === 'long' ? 0.45 : 0;
  const some = (share: number, ...kinds: readonly FieldKind[]): readonly FieldKind[] =>
    chance(rng, share + more) ? kinds : [];
  const name = rng.pick<readonly FieldKind[]>([['fullName'], ['firstName', 'lastName'], ['lastName', 'firstName'], []]);
  if (shape === 'steps') return [...some(0.3, 'accountType'), 'email', ...some(0.5, 'country'), ...some(0.3, 'terms')];
  const person = [...name, ...some(0.2, 'company'), ...some(0.3, 'birthDate'), ...some(0.25, 'country')];
  const login = ['email' as const, ...some(0.2, 'confirmEmail'), ...some(0.35, 'username'), ...some(0.3, 'phone')];
  const secret = ['password' as const, ...some(0.5, 'confirmPassword')];
  const groups = chance(rng, 0.5) ? [person, login, secret] : [login, secret, person];
  return [
    ...some(0.15, 'accountType'),
    ...groups.flat(),
    ...some(0.12, 'postcode'),
    ...some(0.2, 'referral'),
    ...some(0.3, 'marketing'),
    ...some(0.55, 'terms'),
  ];
}

function makeField(kind: FieldKind, usual: LabelStyle, { action, words, rng }: ChooseOptions): readonly Field[] {
  const [label, second] = rng.shuffle(words.fields[kind]);
  const neededAlways = kind === 'email' || kind === 'password' || kind === 'terms' || action === 'sign-in';
  const optional = !neededAlways && chance(rng, 0.25);
  const { control, types, example, options } = controlOf(kind, words, rng);
  const box = control === 'checkbox' || control === 'radio';
  const style = box ? 'above' : control === 'select' && usual !== 'after' ? 'above' : usual;
  const field: Field = {
    kind,
    part: 0,
    control,
    label,
    style,
    ...(style === 'both' && second !== undefined ? { secondName: second } : {}),
    ...(optional && style !== 'placeholder' ? { note: words.optional } : {}),
    required: !optional && control !== 'checkbox' && chance(rng, 0.5),
    ...(example !== undefined && style !== 'placeholder' && chance(rng, 0.5) ? { example } : {}),
    ...(options === undefined ? {} : { options }),
    types,
  };
  if (kind !== 'birthDate' || control !== 'select') return [field];
  // Three lists under one heading.
  return words.birthParts.map((part, index) => ({
    kind,
    part: index,
    control,
    label: part,
    style: 'above',
    required: false,
    legend: label,
    options: birthOptions(index),
    types,
  }));
}

type ControlChoice = Pick<Field, 'control' | 'types' | 'example' | 'options'>;

function controlOf(kind: FieldKind, words: Words, rng: Rng): ControlChoice {
  const text = (...types: readonly FieldType[]): ControlChoice => ({ control: 'text', types: ['text', ...types] });
  switch (kind) {
    case 'email':
    case 'confirmEmail':
      // A plain text box that asks for an address may be called either.
      return {
        ...(chance(rng, 0.75) ? { control: 'email', types: ['email'] } : text('email')),
        example: 'name@mail.test',
      };
    case 'phone':
      return { ...(chance(rng, 0.75) ? { control: 'tel', types: ['tel'] } : text('tel')), example: '0123 456789' };
    case 'password':
    case 'confirmPassword':
      return { control: 'password', types: ['password'] };
    case 'birthDate':
      return rng.pick<ControlChoice>([
        { control: 'date', types: ['date'] },
        { ...text('date'), example: '31/12/1999' },
        { control: 'select', types: ['select'] },
      ]);
    case 'country':
      return { control: 'select', types: ['select'], options: words.countries };
    case 'accountType':
      return chance(rng, 0.6)
        ? { control: 'radio', types: ['radio'], options: words.accountTypes }
        : { control: 'select', types: ['select'], options: words.accountTypes };
    case 'remember':
    case 'terms':
    case 'marketing':
      return { control: 'checkbox', types: ['checkbox'] };
    case 'emailOrUsername':
      return text('email');
    case 'customerNumber':
      return { ...text('number'), example: '1234 5678' };
    case 'username':
    case 'firstName':
    case 'lastName':
    case 'fullName':
    case 'company':
    case 'referral':
    case 'postcode':
      return text();
  }
  return kind satisfies never;
}

function birthOptions(part: number): readonly string[] {
  const count = (from: number, to: number): readonly string[] =>
    Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
  return [count(1, 31), count(1, 12), count(1950, 2008)][part];
}

function chance(rng: Rng, share: number): boolean {
  return rng.next() < share;
}

/** Every name that the page itself gives a field, most visible first. */
export function namesOf({ label, secondName, note, legend }: Field): readonly string[] {
  return [
    label,
    ...(note === undefined ? [] : [`${label} (${note})`]),
    ...(secondName === undefined ? [] : [secondName]),
    ...(legend === undefined ? [] : [`${legend} ${label}`, `${legend} - ${label}`]),
  ];
}
