import { expect, test } from 'vitest';
import { keyOfCharacter, MODIFIERS, readCombination } from './keyboard.ts';

test('every character of ASCII that can be printed has its key', () => {
  for (let code = 32; code < 127; code++) {
    const character = String.fromCharCode(code);
    expect(keyOfCharacter(character)?.text, character).toBe(character);
  }
  expect(keyOfCharacter('é')).toBeUndefined();
});

test('capital letters and upper signs are typed with shift', () => {
  expect(keyOfCharacter('A')).toMatchObject({ code: 'KeyA', keyCode: 65, shift: true });
  expect(keyOfCharacter('a')).toMatchObject({ code: 'KeyA', keyCode: 65, shift: false });
  expect(keyOfCharacter('!')).toMatchObject({ code: 'Digit1', keyCode: 49, shift: true });
  expect(keyOfCharacter('_')).toMatchObject({ code: 'Minus', keyCode: 189, shift: true });
});

test('combinations are read, and a letter beside Control is no capital', () => {
  expect(readCombination('Enter')).toMatchObject({ key: { keyCode: 13 }, modifiers: 0 });
  expect(readCombination('Control+A')).toMatchObject({ key: { key: 'a' }, modifiers: MODIFIERS.Control });
  expect(readCombination('Ctrl+a')).toEqual(readCombination('Control+A'));
  expect(readCombination('Shift+ArrowRight')).toMatchObject({ key: { keyCode: 39 }, modifiers: MODIFIERS.Shift });
  expect(readCombination('A')).toMatchObject({ key: { key: 'A' }, modifiers: MODIFIERS.Shift });
  expect(readCombination('+')).toMatchObject({ key: { code: 'Equal' } });
});

test('what is no key is not read', () => {
  for (const keys of ['Entr', 'Hyper+A', '', 'Control+']) expect(readCombination(keys), keys).toBeUndefined();
});
