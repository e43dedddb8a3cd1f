// What Python does to text where templates rely on it: strip and str(). JavaScript's trim cuts other characters
// (U+FEFF, but not U+001C to U+001F and U+0085), and its String() spells values differently.

import type { JsonText } from './json-text.ts';

const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const START = new RegExp(`^${SPACE}+`);

export function pythonStrip(text: string): string {
  const started = text.replace(START, '');
  let end = started.length;
  // From the end by hand: a pattern anchored there would try every run of blanks within a page.
  while (end > 0 && START.test(started.charAt(end - 1))) end -= 1;
  return started.slice(0, end);
}

/** `str(value)`: texts as they are, True, False, None, and lists as their repr. */
export function pythonStr(node: JsonText): string {
  return node.kind === 'string' ? node.value : pythonRepr(node);
}

const WORDS = new Map([
  ['true', 'True'],
  ['false', 'False'],
  ['null', 'None'],
]);

function pythonRepr(node: JsonText): string {
  switch (node.kind) {
    case 'string':
      return quoted(node.value);
    case 'literal':
      return WORDS.get(node.text) ?? node.text;
    case 'array':
      return `[${node.items.map(pythonRepr).join(', ')}]`;
    case 'object':
      return `{${node.entries.map(([key, value]) => `${quoted(key)}: ${pythonRepr(value)}`).join(', ')}}`;
  }
}

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')

    .replace(/[\x00-\x1f\x7f]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return quote + escaped + quote;
}
