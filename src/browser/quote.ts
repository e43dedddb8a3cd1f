// A page's text inside quotes, on one line, whatever the page says.

/**
 * `text` between `mark`s. The mark and the backslash get a backslash; everything that could break a line, hide or
 * reorder text (controls, line and paragraph separators, format characters such as bidirectional overrides, lone
 * surrogates) is written as `\u{hex}`.
 */
export function quote(text: string, mark: '"' | "'"): string {
  const escaped = text.replace(/[\\"']|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === '\\' || character === mark) return `\\${character}`;
    if (character === '"' || character === "'") return character;
    return `\\u{${character.codePointAt(0)!.toString(16)}}`;
  });
  return `${mark}${escaped}${mark}`;
}
