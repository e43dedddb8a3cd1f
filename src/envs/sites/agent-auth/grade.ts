// Is a list of fields the list of a form's fields? Names are compared as the page gives them, letter case and punctuation
// aside; the order is free; what is too much counts as much as what is missing. Pure.

import { z } from 'zod';
import { namesOf, type Field } from './fields.ts';

export type AnswerField = { readonly name: string; readonly type: string };
export type ReadAnswer =
  | { readonly kind: 'fields'; readonly fields: readonly AnswerField[] }
  | { readonly kind: 'unreadable'; readonly problem: string };

const MAX_CHARACTERS = 10_000;
const MAX_FIELDS = 60;

const answerSchema = z.array(z.object({ name: z.string().max(300), type: z.string().max(40) })).max(MAX_FIELDS);

/** JSON alone, in a fence, or as the only list in a text. */
export function readAnswer(text: string): ReadAnswer {
  const unreadable = (problem: string): ReadAnswer => ({ kind: 'unreadable', problem });
  if (text.length > MAX_CHARACTERS) return unreadable(`longer than ${MAX_CHARACTERS} characters`);
  const from = text.indexOf('[');
  const to = text.lastIndexOf(']');
  if (from === -1 || to < from) return unreadable('no JSON list');
  let value: unknown;
  try {
    value = JSON.parse(text.slice(from, to + 1));
  } catch {
    return unreadable('no JSON list'); // whatever is wrong with it, nobody can read it
  }
  const parsed = answerSchema.safeParse(value);
  if (parsed.success) return { kind: 'fields', fields: parsed.data };
  const [issue] = parsed.error.issues;
  return unreadable(`${issue.path.join('.')}: ${issue.message}`);
}

export type Comparison = {
  /** Right in name and type. */
  readonly right: number;
  readonly missing: readonly string[];
  /** Entries that are no field, or one that has been named before. */
  readonly wrong: readonly string[];
  /** Harmonic mean of precision and recall. */
  readonly f1: number;
};

export function compareFields(answer: readonly AnswerField[], truth: readonly Field[]): Comparison {
  const open = new Set(truth);
  const wrong: string[] = [];
  for (const { name, type } of answer) {
    const field = [...open].find(
      (one) =>
        namesOf(one).some((known) => plain(known) === plain(name)) && one.types.some((known) => known === typeOf(type)),
    );
    if (field === undefined) wrong.push(name);
    else open.delete(field);
  }
  const right = truth.length - open.size;
  const total = answer.length + truth.length;
  return { right, missing: [...open].map(({ label }) => label), wrong, f1: total === 0 ? 0 : (2 * right) / total };
}

/** Letters, digits and the marks on them. */
export function plain(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')
    .trim();
}

/** Other words for the types that the task lists. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  'e mail': 'email',
  phone: 'tel',
  telephone: 'tel',
  dropdown: 'select',
  'drop down': 'select',
  list: 'select',
  combobox: 'select',
  'check box': 'checkbox',
  'radio button': 'radio',
  'radio buttons': 'radio',
  textbox: 'text',
};

function typeOf(type: string): string {
  const word = plain(type);
  return Object.hasOwn(TYPE_WORDS, word) ? TYPE_WORDS[word] : word;
}
