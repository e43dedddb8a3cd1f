// The languages of the sites, by what a family may ask for.

import { ENGLISH } from './english.ts';
import { JAPANESE, POLISH, RUSSIAN, TURKISH } from './eastern.ts';
import { ARABIC, HEBREW, PERSIAN } from './right-to-left.ts';
import { DUTCH, FRENCH, GERMAN, ITALIAN, PORTUGUESE, SPANISH } from './western.ts';
import type { Words } from './words.ts';

export type { FieldKind, Words } from './words.ts';

export type Languages = 'english' | 'left-to-right' | 'right-to-left';

/** `left-to-right` are those other than English. */
export const LANGUAGES: Readonly<Record<Languages, readonly Words[]>> = {
  english: [ENGLISH],
  'left-to-right': [GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, DUTCH, POLISH, TURKISH, RUSSIAN, JAPANESE],
  'right-to-left': [ARABIC, HEBREW, PERSIAN],
};
