// Keys as Chromium wants to be told of them, for a United States keyboard. Pure.
// Source: https://chromedevtools.github.io/devtools-protocol/tot/Input/#method-dispatchKeyEvent and the codes of
// https://www.w3.org/TR/uievents-code/.

export type Key = {
  readonly key: string;
  readonly code: string;
  /** Windows's number of the key, which pages know as `keyCode`. */
  readonly keyCode: number;
  /** What it types, where it types. */
  readonly text?: string;
  readonly shift?: boolean;
};

const NAMED: Readonly<Record<string, Key>> = {
  Enter: { key: 'Enter', code: 'Enter', keyCode: 13, text: '\r' },
  Tab: { key: 'Tab', code: 'Tab', keyCode: 9 },
  Escape: { key: 'Escape', code: 'Escape', keyCode: 27 },
  Backspace: { key: 'Backspace', code: 'Backspace', keyCode: 8 },
  Delete: { key: 'Delete', code: 'Delete', keyCode: 46 },
  Home: { key: 'Home', code: 'Home', keyCode: 36 },
  End: { key: 'End', code: 'End', keyCode: 35 },
  PageUp: { key: 'PageUp', code: 'PageUp', keyCode: 33 },
  PageDown: { key: 'PageDown', code: 'PageDown', keyCode: 34 },
  ArrowLeft: { key: 'ArrowLeft', code: 'ArrowLeft', keyCode: 37 },
  ArrowUp: { key: 'ArrowUp', code: 'ArrowUp', keyCode: 38 },
  ArrowRight: { key: 'ArrowRight', code: 'ArrowRight', keyCode: 39 },
  ArrowDown: { key: 'ArrowDown', code: 'ArrowDown', keyCode: 40 },
  Space: { key: ' ', code: 'Space', keyCode: 32, text: ' ' },
};

/** Without shift, with shift, code, number. */
const SYMBOLS: readonly (readonly [string, string, string, number])[] = [
  ...[...')!@#$%^&*('].map((shifted, digit) => [`${digit}`, shifted, `Digit${digit}`, 48 + digit] as const),
  ['-', '_', 'Minus', 189],
  ['=', '+', 'Equal', 187],
  ['[', '{', 'BracketLeft', 219],
  [']', '}', 'BracketRight', 221],
  ['\\', '|', 'Backslash', 220],
  [';', ':', 'Semicolon', 186],
  ["'", '"', 'Quote', 222],
  [',', '<', 'Comma', 188],
  ['.', '>', 'Period', 190],
  ['/', '?', 'Slash', 191],
  ['`', '~', 'Backquote', 192],
];

/** Bits of the protocol's `modifiers`. */
export const MODIFIERS: Readonly<Record<string, number>> = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

/** The key that types a character; undefined for those that this keyboard lacks. */
export function keyOfCharacter(character: string): Key | undefined {
  if (/^[a-zA-Z]$/.test(character)) {
    const upper = character.toUpperCase();
    const shift = character === upper;
    return { key: character, code: `Key${upper}`, keyCode: upper.charCodeAt(0), text: character, shift };
  }
  if (character === ' ') return NAMED.Space;
  if (character === '\n') return NAMED.Enter;
  for (const [plain, shifted, code, keyCode] of SYMBOLS) {
    if (character === plain || character === shifted) {
      return { key: character, code, keyCode, text: character, shift: character === shifted };
    }
  }
  return undefined;
}

/** `Enter`, `a`, `Control+A`; undefined for what is no key. */
export function readCombination(keys: string): { readonly key: Key; readonly modifiers: number } | undefined {
  const parts = keys === '+' ? ['+'] : keys.split('+').map((part) => part.trim());
  const last = parts.pop()!;
  let modifiers = 0;
  for (const part of parts) {
    const bit = MODIFIERS[part === 'Ctrl' ? 'Control' : part];
    if (bit === undefined) return undefined;
    modifiers |= bit;
  }
  // With another key held down a letter is a key, not a character: Control+A and Control+a are the same.
  const name = modifiers === 0 || last.length > 1 ? last : last.toLowerCase();
  const key = NAMED[last] ?? (last.length === 1 ? keyOfCharacter(name) : undefined);
  return key === undefined ? undefined : { key, modifiers: modifiers | (key.shift === true ? MODIFIERS.Shift : 0) };
}
