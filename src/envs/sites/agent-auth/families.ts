// How the sites of a family are built: where the way to the form begins, what the form lies in, and what stands in the
// way. Families that are only in the test split put together what the others have one by one, or have what none has.

import type { Languages } from './words/index.ts';

/** Where the way begins. */
export type Entry =
  'links' | 'footer' | 'account-menu' | 'nested-menu' | 'mobile-menu' | 'help' | 'late-links' | 'button';
/** What the form lies in. */
export type Container =
  | 'page'
  | 'twin'
  | 'accordion'
  | 'modal'
  | 'tabbed-modal'
  | 'frame'
  | 'foreign-frame'
  | 'sso'
  | 'chooser-sso'
  | 'late'
  | 'shadow'
  | 'closed-shadow'
  | 'app'
  | 'new-tab';
/** `overlay` covers the page; `gate` is a page before the first. */
export type Wall = 'none' | 'overlay' | 'gate';
export type Shape = 'plain' | 'steps' | 'long' | 'placeholders';

export type Family = {
  readonly name: string;
  readonly split: 'train' | 'test';
  readonly entry: Entry;
  readonly container: Container;
  readonly wall: Wall;
  readonly shape: Shape;
  readonly languages: Languages;
  /** Search, newsletter and contact forms beside and before the one that is asked for; others have them now and then. */
  readonly decoys: boolean;
};

const PLAIN = { wall: 'none', shape: 'plain', languages: 'english', decoys: false } as const;

export const FAMILIES: readonly Family[] = [
  { ...PLAIN, name: 'top-bar', split: 'train', entry: 'links', container: 'page' },
  { ...PLAIN, name: 'footer', split: 'train', entry: 'footer', container: 'page' },
  { ...PLAIN, name: 'account-menu', split: 'train', entry: 'account-menu', container: 'page' },
  { ...PLAIN, name: 'nested-menu', split: 'train', entry: 'nested-menu', container: 'page' },
  { ...PLAIN, name: 'mobile-menu', split: 'train', entry: 'mobile-menu', container: 'page' },
  { ...PLAIN, name: 'help-page', split: 'train', entry: 'help', container: 'page' },
  { ...PLAIN, name: 'two-step', split: 'train', entry: 'links', container: 'page', shape: 'steps' },
  { ...PLAIN, name: 'long-form', split: 'train', entry: 'links', container: 'page', shape: 'long' },
  { ...PLAIN, name: 'placeholders', split: 'train', entry: 'account-menu', container: 'page', shape: 'placeholders' },
  { ...PLAIN, name: 'modal', split: 'train', entry: 'links', container: 'modal' },
  { ...PLAIN, name: 'tabbed-modal', split: 'train', entry: 'button', container: 'tabbed-modal' },
  { ...PLAIN, name: 'frame', split: 'train', entry: 'links', container: 'frame' },
  { ...PLAIN, name: 'foreign-frame', split: 'train', entry: 'footer', container: 'foreign-frame' },
  { ...PLAIN, name: 'sso', split: 'train', entry: 'links', container: 'sso' },
  { ...PLAIN, name: 'cookie-overlay', split: 'train', entry: 'links', container: 'page', wall: 'overlay' },
  { ...PLAIN, name: 'cookie-gate', split: 'train', entry: 'account-menu', container: 'page', wall: 'gate' },
  { ...PLAIN, name: 'decoys', split: 'train', entry: 'links', container: 'page', decoys: true },
  { ...PLAIN, name: 'twin-forms', split: 'train', entry: 'links', container: 'twin' },
  { ...PLAIN, name: 'language', split: 'train', entry: 'links', container: 'page', languages: 'left-to-right' },
  { ...PLAIN, name: 'late-form', split: 'train', entry: 'links', container: 'late' },
  { ...PLAIN, name: 'shadow', split: 'train', entry: 'links', container: 'shadow' },
  { ...PLAIN, name: 'closed-shadow', split: 'test', entry: 'mobile-menu', container: 'closed-shadow' },
  {
    ...PLAIN,
    name: 'right-to-left',
    split: 'test',
    entry: 'account-menu',
    container: 'page',
    languages: 'right-to-left',
  },
  { ...PLAIN, name: 'late-sso', split: 'test', entry: 'late-links', container: 'chooser-sso' },
  {
    ...PLAIN,
    name: 'walled-steps',
    split: 'test',
    entry: 'mobile-menu',
    container: 'page',
    wall: 'overlay',
    shape: 'steps',
    languages: 'left-to-right',
  },
  { ...PLAIN, name: 'app', split: 'test', entry: 'nested-menu', container: 'app' },
  { ...PLAIN, name: 'new-tab', split: 'test', entry: 'footer', container: 'new-tab', decoys: true },
  { ...PLAIN, name: 'accordion', split: 'test', entry: 'help', container: 'accordion', decoys: true },
];

/** Sites of each family. */
export const SEEDS = 12;
