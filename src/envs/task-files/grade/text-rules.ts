// Whether a text meets a rule: WebArena's comparisons, with the holes closed through which wrong answers pass. Pure.
//
// Where it is stricter than the benchmark's own program: a reference that is a number, or begins or ends with a digit,
// is not found inside a longer number ("12" in "120"); a reference of one character is always a word of its own; each
// rule counts, none overrides another. Where it is more lenient: two spellings of one number are equal (1,000 = 1000).

import { readNumber, sameNumber } from '../../math/number.ts';
import type { Inequality, TextRule } from '../loaded-task.ts';
import { plainText } from './plain-text.ts';

export type RuleResult =
  | { readonly holds: boolean; readonly why: string }
  /** A judge has to say; nothing in the text decides it. */
  | { readonly ask: Extract<TextRule, { readonly rule: 'means' | 'unachievable' }> };

export function applyRule(rule: TextRule, text: string): RuleResult {
  const plain = plainText(text);
  switch (rule.rule) {
    case 'exact':
      return told(equal(rule.value, plain), `equal to ${quoted(rule.value)}`);
    case 'includes': {
      const missing = rule.values.find((any) => !any.some((one) => includes(plain, one, rule.words)));
      return told(missing === undefined, `includes ${missing === undefined ? 'all' : quoted(missing.join(' or '))}`);
    }
    case 'excludes': {
      const found = rule.values.find((one) => includes(plain, one, rule.words));
      return told(found === undefined, `does not include ${found === undefined ? 'any' : quoted(found)}`);
    }
    case 'one-of':
      return told(
        rule.values.some((one) => equal(one, plain) || (rule.whole !== true && includes(plain, one, false))),
        'includes one of the references',
      );
    case 'numbers': {
      const number = Number(plain.replaceAll(',', ''));
      const isNumber = /^-?\d[\d,]*(?:\.\d+)?$/u.test(plain) && Number.isFinite(number);
      const holds = isNumber && rule.values.every((any) => any.some((one) => compares(number, one)));
      return told(holds, 'is a number in the range');
    }
    case 'means':
      // Nothing said is no answer, whatever a judge would make of it.
      return plain === '' ? told(false, 'says anything') : { ask: rule };
    case 'unachievable':
      if (plain === '') return told(false, 'says anything');
      return plain === 'n/a' ? told(true, 'says N/A') : { ask: rule };
    default:
      return rule satisfies never;
  }
}

function equal(reference: string, plain: string): boolean {
  const wanted = plainText(reference);
  if (wanted === plain) return true;
  const [a, b] = [numberOf(wanted), numberOf(plain)];
  return a !== undefined && b !== undefined && sameNumber(a, b);
}

/** `plain` is a plain text, `reference` as it is in the file. */
function includes(plain: string, reference: string, words: boolean): boolean {
  const wanted = plainText(reference);
  if (wanted === '') return false;
  const number = /^\d/u.test(wanted) ? numberOf(wanted) : undefined;
  if (number !== undefined) {
    return numeralsOf(plain).some((numeral) => {
      const value = numberOf(numeral);
      return value !== undefined && sameNumber(value, number);
    });
  }
  const whole = [...wanted].length === 1 || (words && !/[\s]/u.test(wanted));
  for (let at = plain.indexOf(wanted); at !== -1; at = plain.indexOf(wanted, at + 1)) {
    // What stands next to it; a page has millions of characters.
    const [before, after] = [
      plain.slice(Math.max(0, at - 2), at),
      plain.slice(at + wanted.length, at + wanted.length + 2),
    ];
    if (splitsNumber(before, wanted, after)) continue;
    if (!whole || !(joins(before.at(-1), wanted[0]) || joins(wanted.at(-1), after[0]))) return true;
  }
  return false;
}

/** Whether the place where `wanted` was found cuts a number in two. */
function splitsNumber(before: string, wanted: string, after: string): boolean {
  return (/^\d/u.test(wanted) && /\d[.,]?$/u.test(before)) || (/\d$/u.test(wanted) && /^(?:[.,]?\d)/u.test(after));
}

/** Whether two neighbouring characters are of one word. */
function joins(a: string | undefined, b: string | undefined): boolean {
  const letter = /[\p{L}\p{N}_]/u;
  return a !== undefined && b !== undefined && letter.test(a) && letter.test(b);
}

/** A number alone, without a unit: 5 and 5 % are two things. */
function numberOf(text: string): ReturnType<typeof readNumber> {
  return /[%\\/]/u.test(text) ? undefined : readNumber(text.replace(/^[$€£¥]\s?/u, ''));
}

/** A hyphen is a minus only where it cannot join two words or the ends of a range. */
function numeralsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?![\w])|(?<=[\w.]-)\d[\d,]*(?:\.\d+)?(?![\w])/gu)].map(
    ([numeral]) => numeral.replace(/,+$/u, ''),
  );
}

function compares(number: number, { relation, value }: Inequality): boolean {
  switch (relation) {
    case '<':
      return number < value;
    case '<=':
      return number <= value;
    case '==':
      return number === value;
    case '>=':
      return number >= value;
    case '>':
      return number > value;
    default:
      return relation satisfies never;
  }
}

function told(holds: boolean, what: string): RuleResult {
  return { holds, why: holds ? what : `not so: ${what}` };
}

function quoted(text: string): string {
  return JSON.stringify(text.length <= 80 ? text : `${text.slice(0, 80)}…`);
}
