// Texts as they are compared: small letters, outer quotes and outer blanks gone, runs of blanks one blank.

/** As WebArena does it; beyond that, no-break spaces and line breaks count as blanks. */
export function plainText(text: string): string {
  const trimmed = text.replaceAll(/\s+/gu, ' ').trim();
  const quoted = /^(['"])(.*)\1$/su.exec(trimmed);
  return (quoted === null ? trimmed : quoted[2]).toLowerCase();
}

/** Beyond that, typographic quotes and dashes are plain ones, and compatible characters the same. */
export function foldedText(text: string): string {
  return plainText(
    text
      .normalize('NFKC')
      .replaceAll(/[\u2018\u2019\u201B]/gu, "'")
      .replaceAll(/[\u201C\u201D]/gu, '"')
      .replaceAll(/[\u2010-\u2015\u2212]/gu, '-'),
  );
}
