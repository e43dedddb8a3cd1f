// Numbers as people read them. Every space before a unit is a no-break one.

const NBSP = '\u00a0';

/** A share as a percentage with one decimal: 0.915 is "91.5 %". */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)}${NBSP}%`;
}

export function percentRange([low, high]: readonly [number, number]): string {
  return `${(100 * low).toFixed(1)} to ${percent(high)}`;
}

/** A difference of shares in percentage points, with its sign. */
export function points(difference: number): string {
  return `${signed(100 * difference)}${NBSP}pts`;
}

export function pointsRange([low, high]: readonly [number, number]): string {
  return `${signed(100 * low)} to ${signed(100 * high)}`;
}

/** A p-value: three decimals, or "< 0.001". */
export function pValue(p: number): string {
  return p < 0.001 ? `<${NBSP}0.001` : p.toFixed(3);
}

/** 75 is "1 min 15 s". */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole}${NBSP}s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}${NBSP}min ${whole % 60}${NBSP}s`;
  return `${Math.floor(minutes / 60)}${NBSP}h ${minutes % 60}${NBSP}min`;
}

/** At most three significant digits, thousands as k: 12345 is "12.3k", 0.00012345 is "1.23e-4". */
export function compact(value: number): string {
  // Rounded first, because 999,600 rounds to a million.
  const rounded = threeDigits(value);
  const size = Math.abs(rounded);
  if (size >= 1e6) return `${threeDigits(rounded / 1e6)}M`;
  if (size >= 1e4) return `${threeDigits(rounded / 1e3)}k`;
  return size > 0 && size < 1e-3 ? rounded.toExponential() : String(rounded);
}

function threeDigits(value: number): number {
  return Number(value.toPrecision(3));
}

function signed(value: number): string {
  // A minus sign, not a hyphen; and no "-0.0".
  const text = Math.abs(value).toFixed(1);
  if (Number(text) === 0) return text;
  return value < 0 ? `\u2212${text}` : `+${text}`;
}
