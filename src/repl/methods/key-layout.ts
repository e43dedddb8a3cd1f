// The keys of a US keyboard, as the protocol wants them. Data and look-ups; nothing is pressed here.
// Source: the tables of UI Events (https://www.w3.org/TR/uievents-key/, https://www.w3.org/TR/uievents-code/) and the
// Windows virtual key codes that Chromium expects (https://learn.microsoft.com/windows/win32/inputdev/virtual-key-codes).

export type Key = {
  readonly key: string;
  /** Physical key; empty for characters that the keyboard does not have. */
  readonly code: string;
  readonly keyCode: number;
  /** What it types, if anything. */
  readonly text?: string;
  /** 1 left, 2 right, 3 numeric pad. */
  readonly location?: number;
};

const SHIFTED = {
  '`': '~',
  '-': '_',
  '=': '+',
  '[': '{',
  ']': '}',
  '\\': '|',
  ';': ':',
  "'": '"',
  ',': '<',
  '.': '>',
  '/': '?',
};
const SHIFTED_DIGITS = ')!@#$%^&*(';
const PUNCTUATION: readonly (readonly [string, string, number])[] = [
  ['`', 'Backquote', 192],
  ['-', 'Minus', 189],
  ['=', 'Equal', 187],
  ['[', 'BracketLeft', 219],
  [']', 'BracketRight', 221],
  ['\\', 'Backslash', 220],
  [';', 'Semicolon', 186],
  ["'", 'Quote', 222],
  [',', 'Comma', 188],
  ['.', 'Period', 190],
  ['/', 'Slash', 191],
];

/** Name, virtual key code, and where they differ from the name: code, text. */
const NAMED: readonly (readonly [name: string, keyCode: number, code?: string, text?: string])[] = [
  ['Enter', 13, 'Enter', '\r'],
  ['Tab', 9],
  ['Backspace', 8],
  ['Delete', 46],
  ['Escape', 27],
  ['Home', 36],
  ['End', 35],
  ['PageUp', 33],
  ['PageDown', 34],
  ['ArrowLeft', 37],
  ['ArrowUp', 38],
  ['ArrowRight', 39],
  ['ArrowDown', 40],
  ['Insert', 45],
  ['CapsLock', 20],
  ['NumLock', 144],
  ['ScrollLock', 145],
  ['Pause', 19],
  ['PrintScreen', 44],
  ['ContextMenu', 93],
  ['Shift', 16, 'ShiftLeft'],
  ['Control', 17, 'ControlLeft'],
  ['Alt', 18, 'AltLeft'],
  ['Meta', 91, 'MetaLeft'],
  ['AudioVolumeMute', 173],
  ['AudioVolumeDown', 174],
  ['AudioVolumeUp', 175],
  ['MediaTrackNext', 176],
  ['MediaTrackPrevious', 177],
  ['MediaStop', 178],
  ['MediaPlayPause', 179],
  ['BrowserBack', 166],
  ['BrowserForward', 167],
  ['BrowserRefresh', 168],
  ['BrowserStop', 169],
  ['BrowserSearch', 170],
  ['BrowserFavorites', 171],
  ['BrowserHome', 172],
];
const RIGHT_HAND: readonly (readonly [code: string, key: string, keyCode: number])[] = [
  ['ShiftRight', 'Shift', 16],
  ['ControlRight', 'Control', 17],
  ['AltRight', 'Alt', 18],
  ['MetaRight', 'Meta', 92],
];
const NUMPAD: readonly (readonly [code: string, key: string, keyCode: number])[] = [
  ...Array.from({ length: 10 }, (_, digit) => [`Numpad${digit}`, `${digit}`, 96 + digit] as const),
  ['NumpadMultiply', '*', 106],
  ['NumpadAdd', '+', 107],
  ['NumpadSubtract', '-', 109],
  ['NumpadDecimal', '.', 110],
  ['NumpadDivide', '/', 111],
  ['NumpadEnter', 'Enter', 13],
];
const ALIASES: Readonly<Record<string, string>> = {
  esc: 'Escape',
  return: 'Enter',
  spacebar: ' ',
  space: ' ',
  del: 'Delete',
  cmd: 'Meta',
  command: 'Meta',
  ctrl: 'Control',
  option: 'Alt',
  left: 'ArrowLeft',
  up: 'ArrowUp',
  right: 'ArrowRight',
  down: 'ArrowDown',
};

function characterKeys(): Map<string, Key> {
  const keys = new Map<string, Key>();
  const add = (text: string, code: string, keyCode: number): void =>
    void keys.set(text, { key: text, code, keyCode, text });
  for (let index = 0; index < 26; index++) {
    const lower = String.fromCharCode(97 + index);
    const upper = lower.toUpperCase();
    add(lower, `Key${upper}`, 65 + index);
    add(upper, `Key${upper}`, 65 + index);
  }
  for (let digit = 0; digit < 10; digit++) {
    add(`${digit}`, `Digit${digit}`, 48 + digit);
    add(SHIFTED_DIGITS[digit], `Digit${digit}`, 48 + digit);
  }
  for (const [plain, code, keyCode] of PUNCTUATION) {
    add(plain, code, keyCode);
    add(SHIFTED[plain as keyof typeof SHIFTED], code, keyCode);
  }
  add(' ', 'Space', 32);
  return keys;
}

function namedKeys(): Map<string, Key> {
  const keys = new Map<string, Key>();
  const add = (name: string, key: Key): void => void keys.set(name.toLowerCase(), key);
  for (const [name, keyCode, code = name, text] of NAMED) {
    const location = code.endsWith('Left') && code !== name ? { location: 1 } : {};
    const key = { key: name, code, keyCode, ...(text === undefined ? {} : { text }), ...location };
    add(name, key);
    add(code, key);
  }
  for (let number = 1; number <= 24; number++)
    add(`F${number}`, { key: `F${number}`, code: `F${number}`, keyCode: 111 + number });
  for (const [code, key, keyCode] of RIGHT_HAND) add(code, { key, code, keyCode, location: 2 });
  for (const [code, key, keyCode] of NUMPAD)
    add(code, { key, code, keyCode, text: key === 'Enter' ? '\r' : key, location: 3 });
  return keys;
}

const CHARACTERS: ReadonlyMap<string, Key> = characterKeys();
const NAMES: ReadonlyMap<string, Key> = namedKeys();
/** By physical key, the plain and the shifted character. */
const BY_CODE: ReadonlyMap<string, readonly Key[]> = groupByCode();

function groupByCode(): Map<string, Key[]> {
  const groups = new Map<string, Key[]>();
  for (const key of CHARACTERS.values()) {
    const code = key.code.toLowerCase();
    groups.set(code, [...(groups.get(code) ?? []), key]);
  }
  return groups;
}

/** The key of a name, a physical code or one character (any of Unicode); undefined for what is none of these. */
export function findKey(name: string, shift: boolean): Key | undefined {
  const alias = ALIASES[name.toLowerCase()] ?? name;
  const character = CHARACTERS.get(alias);
  if (character !== undefined) return shift ? shifted(character) : character;
  const named = NAMES.get(alias.toLowerCase());
  if (named !== undefined) return named;
  const physical = BY_CODE.get(alias.toLowerCase());
  if (physical !== undefined) return physical[shift ? physical.length - 1 : 0];
  if (alias === '\n' || alias === '\r') return NAMES.get('enter');
  if (alias === '\t') return NAMES.get('tab');
  return [...alias].length === 1 ? { key: alias, code: '', keyCode: 0, text: alias } : undefined;
}

/** What the same physical key types with Shift. */
function shifted(key: Key): Key {
  return BY_CODE.get(key.code.toLowerCase())!.at(-1)!;
}
