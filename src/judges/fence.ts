// Untrusted text in a prompt: between two marks that carry a hash of it, every line behind a bar, nothing in it that
// breaks a line, hides or reorders text. No text can hold its own hash, and no line of it can begin without the bar, so
// it cannot end its fence or pass for what stands outside. Hash and not random: the same input gives the same prompt.

import { createHash } from 'node:crypto';

export type FenceOptions = {
  /** What the text is, e.g. `page`; the host's word. */
  readonly label: string;
  /** Most characters of it; what is left out of the middle is said. */
  readonly maxCharacters: number;
};

const BAR = '| ';

export function fence(text: string, { label, maxCharacters }: FenceOptions): string {
  const body = shorten(visible(text), maxCharacters)
    .split('\n')
    .map((line) => `${BAR}${line}`)
    .join('\n');
  const mark = createHash('sha256').update(`${label}\n${body}`).digest('hex').slice(0, 32);
  return `[begin quoted ${label} ${mark}]\n${body}\n[end quoted ${label} ${mark}]`;
}

/** The beginning and the end are kept: what a text claims is mostly there. Not between the halves of a surrogate pair. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil(most * 0.6);
  const start = text.slice(0, head).replace(/[\uD800-\uDBFF]$/, '');
  const end = most > head ? text.slice(head - most).replace(/^[\uDC00-\uDFFF]/, '') : '';
  return `${start}\n(${text.length - start.length - end.length} characters left out)\n${end}`;
}

/** Line ends of every kind as one kind; everything else that is not seen, written out. */
function visible(text: string): string {
  return text
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, (character) =>
      character === '\n' || character === '\t' ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
    );
}
