// Typing: text into whatever has the focus, and single keys as a keyboard sends them.

import { z } from 'zod';
import type { Attached } from './attached-browser.ts';
import { helperFailed } from './failures.ts';
import { findKey, type Key } from './key-layout.ts';
import { hostMethod, nonEmpty, text } from './method.ts';
import { pageSend, untilDialog, type Scope } from './scope.ts';

const MODIFIERS = { alt: 1, control: 2, ctrl: 2, meta: 4, command: 4, cmd: 4, shift: 8 } as const;
export const SHIFT = 8;
/** Alt, Control and Meta turn a key into a shortcut: it types nothing. */
const SHORTCUT = 1 | 2 | 4;

const MODIFIERS_ERROR =
  'modifiers must be a bitfield from 0 to 15, an array of names or an object such as {ctrl: true}';
const modifiersSchema = z
  .union(
    [
      z.int().min(0, { error: MODIFIERS_ERROR }).max(15, { error: MODIFIERS_ERROR }),
      z.array(z.string()),
      z.record(z.string(), z.boolean()),
    ],
    { error: MODIFIERS_ERROR },
  )
  .default(0);

export const typeText = hostMethod(
  {
    name: 'typeText',
    namespace: 'browser',
    effect: 'acts',
    signature: 'typeText(text)',
    description:
      'Inserts text where the focus is, in one piece, as an input method does; no key is pressed. Use `fillInput` for whole fields and `pressKey` for keys.',
    example: 'await click("#message");\nawait typeText("See you at noon.");',
  },
  [text('text')],
  async ({ scope, page, about }, value) => {
    about({ text: value });
    const on = await page();
    await untilDialog(scope, on, () => pageSend(scope, on, 'Input.insertText', { text: value }));
  },
);

export const pressKey = hostMethod(
  {
    name: 'pressKey',
    namespace: 'browser',
    effect: 'acts',
    signature: 'pressKey(key, modifiers?)',
    description:
      'Presses and releases one key of a US keyboard. `key` is a name in any case (`Enter`, `ArrowDown`, `F5`, `Digit1`, `Numpad0`; also esc, return, spacebar, del, cmd, ctrl) or one character. ' +
      '`modifiers` is a bitfield (1 Alt, 2 Control, 4 Meta, 8 Shift), an array of names or an object such as `{ctrl: true}`. Unknown keys and modifiers throw.',
    example: 'await pressKey("Enter");\nawait pressKey("a", ["Control"]);',
  },
  [nonEmpty('key'), modifiersSchema],
  async ({ scope, page, about }, name, given) => {
    const modifiers = modifierBits(given);
    const key = findKey(name, (modifiers & SHIFT) !== 0);
    if (key === undefined) throw helperFailed('pressKey', `unknown key: ${name}`);
    about({ key: [...modifierNames(modifiers), key.key].join('+') });
    const on = await page();
    await untilDialog(scope, on, () => press(scope, on, key, modifiers));
  },
);

function modifierBits(given: number | readonly string[] | Readonly<Record<string, boolean>>): number {
  if (typeof given === 'number') return given;
  const names = Array.isArray(given)
    ? (given as readonly string[])
    : Object.entries(given).flatMap(([name, on]) => (on ? [name] : [modifierOff(name)]));
  return names.reduce((bits, name) => bits | bitOf(name), 0);
}

/** A modifier that is named but not held still has to exist. */
function modifierOff(name: string): string {
  bitOf(name);
  return '';
}

function bitOf(name: string): number {
  if (name === '') return 0;
  const bit = MODIFIERS[name.toLowerCase() as keyof typeof MODIFIERS] as number | undefined;
  if (bit === undefined) throw helperFailed('pressKey', `unknown modifier: ${name}`);
  return bit;
}

function modifierNames(bits: number): readonly string[] {
  return (['Alt', 'Control', 'Meta', 'Shift'] as const).filter((_, index) => (bits & (1 << index)) !== 0);
}

/** Down, the character if there is one, up. */
export async function press(scope: Scope, page: Attached, key: Key, modifiers: number): Promise<void> {
  const { text: typed, keyCode, location = 0 } = key;
  const common = {
    key: key.key,
    code: key.code,
    windowsVirtualKeyCode: keyCode,
    modifiers,
    location,
    isKeypad: location === 3,
  };
  // On a Mac the browser leaves shortcuts to the system, which is not there.
  const commands =
    process.platform === 'darwin' && modifiers === 4 && key.key === 'a' ? { commands: ['selectAll'] } : {};
  const types = typed !== undefined && (modifiers & SHORTCUT) === 0;
  await Promise.all([
    pageSend(scope, page, 'Input.dispatchKeyEvent', { type: 'rawKeyDown', ...common, ...commands }),
    ...(types
      ? [
          pageSend(scope, page, 'Input.dispatchKeyEvent', {
            type: 'char',
            ...common,
            text: typed,
            unmodifiedText: typed,
          }),
        ]
      : []),
    pageSend(scope, page, 'Input.dispatchKeyEvent', { type: 'keyUp', ...common }),
  ]);
}

/** Types a text key by key; what the keyboard does not have is sent as a character of its own. */
export async function pressText(scope: Scope, page: Attached, value: string): Promise<void> {
  for (const character of value.replaceAll('\r\n', '\n')) {
    const key = findKey(character, false)!;
    const upper = key.code !== '' && /[A-Z~!@#$%^&*()_+{}|:"<>?]/.test(character);
    await press(scope, page, key, upper ? SHIFT : 0);
  }
}
