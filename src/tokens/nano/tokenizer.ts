// The tokenizer of the `nano` model: every byte is a token, and so are references, roles, states and the words that
// instructions are made of. Longest match first; decoding gives back exactly what was encoded.

/** Tokens that text can never produce. */
export const NANO_CONTROL = ['<pad>', '<task>', '<page>', '<notice>', '<act>', '<end>'] as const;
export type NanoControl = (typeof NANO_CONTROL)[number];

const REFERENCES = Array.from({ length: 100 }, (_, i) => `[${i}]`);
const ROLES = [
  'checkbox',
  'button',
  'link',
  'textbox',
  'radio',
  'combobox',
  'switch',
  'tab',
  'option',
  'menuitem',
  'heading',
];
const STATES = ['[checked] ', '[disabled] ', '[selected] ', '[expanded] ', '[checked=mixed] '];
const GLUE = [' "', '" ', ', ', ' and click ', ' and then click ', ' or '];
const VERBS = [
  'Select ',
  'Click ',
  'Is ',
  'Which of ',
  ' is on the page?',
  ' is not checked?',
  ' checked?',
  'nothing',
  'the ',
  'yes',
  'no',
];
const NAMES = ['Submit', 'OK', 'Cancel', 'Send', 'Next', 'Back', 'Save', 'Search', 'Login', 'Done', 'Close', 'Help'];

/** Ids are positions in this list; it is part of the model and may only be appended to. */
const WORDS = [...ROLES, ...STATES, ...GLUE, ...VERBS, ...NAMES];

const CONTROL_AT = 256;
const REFERENCES_AT = CONTROL_AT + NANO_CONTROL.length;
const WORDS_AT = REFERENCES_AT + REFERENCES.length;

export const NANO_VOCABULARY_SIZE = WORDS_AT + WORDS.length;

const ID_BY_TEXT = new Map([
  ...REFERENCES.map((text, i) => [text, REFERENCES_AT + i] as const),
  ...WORDS.map((text, i) => [text, WORDS_AT + i] as const),
]);
// Longest first, so that the first alternative that matches is the longest one.
const PATTERN = new RegExp(
  [...ID_BY_TEXT.keys()]
    .sort((a, b) => b.length - a.length)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('|'),
  'y',
);

export function nanoControlId(token: NanoControl): number {
  return CONTROL_AT + NANO_CONTROL.indexOf(token);
}

/** Text to ids. Control tokens cannot come out of it, whatever the text says. */
export function encodeNano(text: string): number[] {
  const ids: number[] = [];
  for (let at = 0; at < text.length;) {
    PATTERN.lastIndex = at;
    const match = PATTERN.exec(text)?.[0];
    const piece = match ?? String.fromCodePoint(text.codePointAt(at)!);
    if (match !== undefined) ids.push(ID_BY_TEXT.get(match)!);
    else ids.push(...new TextEncoder().encode(piece));
    at += piece.length;
  }
  return ids;
}

/** Ids to text; control tokens appear by name, bytes that are no UTF-8 as U+FFFD. */
export function decodeNano(ids: readonly number[]): string {
  const bytes: number[] = [];
  let text = '';
  const flush = (): void => {
    if (bytes.length > 0) text += new TextDecoder().decode(Uint8Array.from(bytes.splice(0)));
  };
  for (const id of ids) {
    if (id < CONTROL_AT) {
      bytes.push(id);
      continue;
    }
    flush();
    text += NANO_CONTROL[id - CONTROL_AT] ?? REFERENCES[id - REFERENCES_AT] ?? WORDS[id - WORDS_AT] ?? '\ufffd';
  }
  flush();
  return text;
}

/** The number of a reference token, or undefined for any other id. */
export function referenceOf(id: number): number | undefined {
  const number = id - REFERENCES_AT;
  return number >= 0 && number < REFERENCES.length ? number : undefined;
}
