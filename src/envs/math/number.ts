// Numbers as people write them, as exact fractions: "1,000", "-0.5", "1/2", "\frac{1}{2}", "3e2", "$12.50". No floating
// point, so that two spellings of one number are equal and no other pair is. What is no number is undefined, never 0.

/** In lowest terms; the denominator is above 0. */
export type ExactNumber = { readonly numerator: bigint; readonly denominator: bigint };

/** Digits of a numeral, and the size of an exponent: beyond it the work would be the writer's to choose. */
export const MAX_DIGITS = 200;

const MINUS = /[\u2010-\u2015\u2212\uFE63\uFF0D]/gu;
const DECIMAL = /^(\d{1,3}(?:,\d{3})+|\d+)?(?:\.(\d+)|\.)?(?:[eE]([+-]?\d+))?$/u;
const FRACTION = /^\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}$/u;

/** `text` is the number alone, but for spaces, a sign, a currency before it and a percent sign after it. */
export function readNumber(text: string): ExactNumber | undefined {
  if (text.length > 4 * MAX_DIGITS) return undefined;
  const plain = text
    .replaceAll(MINUS, '-')
    .replaceAll(/\\[,;! ]|\{,\}/gu, (mark) => (mark === '{,}' ? ',' : ''))
    .replaceAll('\\$', '$')
    .replaceAll('\\%', '%')
    .trim();
  const [, sign = '', rest = ''] = /^([+-]?)\s*(.*)$/su.exec(plain) ?? [];
  const body = /^[$€£¥]?\s*([+-]?)\s*(.*?)\s*%?$/su.exec(rest);
  if (body === null || (sign !== '' && body[1] !== '')) return undefined;
  const value = readUnsigned(body[2]);
  if (value === undefined) return undefined;
  return sign === '-' || body[1] === '-' ? { ...value, numerator: -value.numerator } : value;
}

export function sameNumber(a: ExactNumber, b: ExactNumber): boolean {
  return a.numerator === b.numerator && a.denominator === b.denominator;
}

export function showNumber({ numerator, denominator }: ExactNumber): string {
  return denominator === 1n ? String(numerator) : `${numerator}/${denominator}`;
}

function readUnsigned(text: string): ExactNumber | undefined {
  const fraction = FRACTION.exec(text) ?? /^([^/]+)\/([^/]+)$/u.exec(text);
  if (fraction === null) return readDecimal(text);
  const [above, below] = [readDecimal(fraction[1].trim()), readDecimal(fraction[2].trim())];
  if (above === undefined || below === undefined || below.numerator === 0n) return undefined;
  return reduced(above.numerator * below.denominator, above.denominator * below.numerator);
}

function readDecimal(text: string): ExactNumber | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, whole = '', part = '', power = '0'] = match;
  if (whole === '' && part === '') return undefined;
  const digits = whole.replaceAll(',', '') + part;
  if (digits.length > MAX_DIGITS || power.length > 6) return undefined;
  const exponent = Number(power) - part.length;
  if (Math.abs(exponent) > MAX_DIGITS) return undefined;
  return exponent >= 0
    ? reduced(BigInt(digits) * 10n ** BigInt(exponent), 1n)
    : reduced(BigInt(digits), 10n ** BigInt(-exponent));
}

function reduced(numerator: bigint, denominator: bigint): ExactNumber {
  let [a, b] = [numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? { numerator: 0n, denominator: 1n } : { numerator: numerator / a, denominator: denominator / a };
}
