// Which number a reply gives as its answer, and whether it is the right one. Exact: no tolerance, no rounding, no judge.
//
// The rule: the last marker counts, `\boxed{…}` or `####` with the rest of its line, and must hold exactly one number;
// words, units and currency may stand beside it, another number may not. A reply without a marker gives its last number.

import { readNumber, sameNumber, showNumber, type ExactNumber } from './number.ts';

export type FinalAnswer =
  | { readonly kind: 'number'; readonly value: ExactNumber; readonly from: 'boxed' | 'hashes' | 'last-number' }
  | { readonly kind: 'none'; readonly reason: string };

/** An answer is at the end: no more of a reply is looked at. */
const TAIL = 20_000;
/**
 * A number with what belongs to it, so that a digit of a longer numeral is never taken for a number of its own. A dash
 * that stands between two things is no sign.
 */
const NUMERAL =
  /\\[dt]?frac\s*\{[^{}]*\}\s*\{[^{}]*\}|(?:(?<![\w.)\]}])[+\-\u2010-\u2015\u2212\uFE63\uFF0D]|(?<![\w.)\]}]\s?)[+\-\u2010-\u2015\u2212\uFE63\uFF0D]\s)?(?:\\?[$€£¥]\s?)?(?:\d(?:[\d,]|\{,\})*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?(?:\s?\/\s?\d[\d,]*(?:\.\d+)?)?/gu;

export function finalAnswer(reply: string): FinalAnswer {
  const tail = reply.slice(-TAIL);
  const boxed = tail.lastIndexOf('\\boxed{');
  const hashes = tail.lastIndexOf('####');
  if (boxed === -1 && hashes === -1) {
    const last = numeralsOf(tail).at(-1);
    if (last === undefined) return { kind: 'none', reason: 'the reply holds no number' };
    return numberOf(last, 'last-number');
  }
  const from = boxed > hashes ? 'boxed' : 'hashes';
  const marked = from === 'boxed' ? bracesAt(tail, boxed + '\\boxed'.length) : lineAt(tail, hashes + 4);
  if (marked === undefined) return { kind: 'none', reason: 'the last \\boxed{ is not closed' };
  const numerals = numeralsOf(marked);
  if (numerals.length === 1) return numberOf(numerals[0], from);
  const what = numerals.length === 0 ? 'no number' : `${numerals.length} numbers`;
  return { kind: 'none', reason: `the marked answer holds ${what}` };
}

export type MathGrade = { readonly success: boolean; readonly answer: string | null; readonly reason: string };

/** `reference` is the one right number. */
export function gradeAnswer(reply: string, reference: ExactNumber): MathGrade {
  const answer = finalAnswer(reply);
  if (answer.kind === 'none') return { success: false, answer: null, reason: answer.reason };
  const success = sameNumber(answer.value, reference);
  return {
    success,
    answer: showNumber(answer.value),
    reason: `${answer.from}: ${success ? 'equal' : 'another number'}`,
  };
}

function numeralsOf(text: string): readonly string[] {
  return [...text.matchAll(NUMERAL)].map(([numeral]) => numeral.replace(/,+$/u, ''));
}

function numberOf(numeral: string, from: 'boxed' | 'hashes' | 'last-number'): FinalAnswer {
  const value = readNumber(numeral);
  if (value !== undefined) return { kind: 'number', value, from };
  const shown = numeral.length > 40 ? `${numeral.slice(0, 40)}…` : numeral;
  return { kind: 'none', reason: `${shown} cannot be read as one exact number` };
}

/** What stands between the brace at `at` and the one that closes it. */
function bracesAt(text: string, at: number): string | undefined {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (text[i] === '{') depth++;
    else if (text[i] === '}' && --depth === 0) return text.slice(at + 1, i);
  }
  return undefined;
}

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.slice(at) : text.slice(at, end);
}
