// Varied texts for tokenizers: written ones for every class that cuts differently, drawn ones for what nobody thought
// of. The same list on every machine.

import { createRng } from '../../src/util/index.ts';

const WRITTEN = [
  'Hello world',
  ' leading and trailing ',
  'The year 2026, 3.14159, 1,000,000 and 0x1F',
  'a1b22c333d4444',
  '  12\n34\t56  7',
  '\n\n\n',
  ' \t \n ',
  'tabs\tand\r\nlines\r',
  "don't I'll we've you're it's DON'T I'LL",
  'function f(x) { return x ** 2; } // ok',
  '<|im_start|>user\nhi<|im_end|>',
  '<|endoftext|>',
  '<html><body class="a">&nbsp;</body></html>',
  '{"key": [1, 2.5e-7, null, true]}',
  'naïve café Ångström ﬁne',
  'cafe\u0301 decomposed',
  'Привет, мир! Ещё раз.',
  '你好，世界。今天天气很好',
  'こんにちは世界、カタカナ',
  '안녕하세요 세계',
  'مرحبا بالعالم ١٢٣',
  'שלום עולם',
  'हिन्दी में पाठ १२३',
  'ไทยไม่มีช่องว่าง',
  '😀👍🏽 👨‍👩‍👧‍👦 🇩🇪🇫🇷',
  '½ ¼ Ⅷ ² ³ ① ㊿',
  '٣٤٥ ७८९ 𝟙𝟚𝟛',
  '\u00a0non\u00a0breaking\u2003em\u200bzero',
  '\ufeffbyte order mark',
  'zero\u0000byte',
  '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𓀀',
  '_____-----=====*****',
  '!!!???...,,,;;;:::',
  'ALLCAPSANDcamelCaseAndsnake_case_and-kebab',
  'https://example.org/a/b?c=d&e=%20f#g',
  '    indented = "code"\n        deeper()\n',
  'x',
  '',
  ' ',
  '1',
  'a\u0300\u0301\u0302\u0303 stacked',
];

const ALPHABETS: readonly string[] = [
  'abcdefghijklmnopqrstuvwxyz     ',
  'ABCDEFxyz0123456789 \n\t.,;:!?',
  '0123456789 .,-+eE',
  ' \n\t\r\u00a0\u2009a1',
  'äöüßéèêñçøåæœŁżğ ',
  'абвгдеёжзиклмн 0123',
  '的一是不了人我在有他这中大来上国，。',
  'あいうえおかきくけこアイウエオ、。',
  '😀😁🤖👍🏽❤️\u200d🇩🇪 a',
  '٠١٢٣٤٥٦٧٨٩½¾Ⅳ² x',
  "'s't're've'm'll'd ISTDon",
  '{}[]()<>|=+-*/\\"\'`~@#$%^&_',
];

export function variedTexts(count: number): string[] {
  const rng = createRng('varied-texts', 7);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(rng.next() * from.length)];
  const texts = [...WRITTEN];
  while (texts.length < count) {
    const parts = Array.from({ length: 1 + Math.floor(rng.next() * 4) }, () => {
      const characters = [...pick(ALPHABETS)];
      return Array.from({ length: 1 + Math.floor(rng.next() * 24) }, () => pick(characters)).join('');
    });
    texts.push(parts.join(pick(['', ' ', '\n'])));
  }
  return texts.slice(0, count);
}
