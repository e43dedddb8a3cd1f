// Dates, durations and distances as people write them, in one form each: ISO days, seconds, metres. Exact; what is not
// plainly one of them is undefined.

import { readNumber, type ExactNumber } from '../../math/number.ts';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** `yyyy-mm-dd`; the month comes first where both are numbers, as the benchmarks' sites have it. A time is left away. */
export function dateOf(text: string): string | undefined {
  const plain = text.trim().toLowerCase().replaceAll(/\s+/gu, ' ');
  const day = plain
    .replace(/[ t,]+\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\s*(?:[ap]\.?m\.?)?\s*(?:z|utc|[+-]\d{2}:?\d{2})?$/u, '')
    .trim();
  const iso = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})$/u.exec(day);
  if (iso !== null) return isoDay(iso[1], iso[2], iso[3]);
  const american = /^(\d{1,2})[-/](\d{1,2})[-/](\d{4})$/u.exec(day);
  if (american !== null) return isoDay(american[3], american[1], american[2]);
  const named = /^([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/u.exec(day);
  if (named !== null) return isoDay(named[3], monthOf(named[1]), named[2]);
  const dayFirst = /^(\d{1,2})(?:st|nd|rd|th)? ([a-z]{3})[a-z]*\.?,? (\d{4})$/u.exec(day);
  return dayFirst === null ? undefined : isoDay(dayFirst[3], monthOf(dayFirst[2]), dayFirst[1]);
}

/** Seconds: `HH:MM:SS`, "1 h 5 min", or a number of seconds alone. */
export function durationOf(text: string): ExactNumber | undefined {
  const plain = text.trim().toLowerCase();
  const clock = /^(\d+):([0-5]\d):([0-5]\d)$/u.exec(plain);
  if (clock !== null) {
    const [hours, minutes, seconds] = clock.slice(1).map(BigInt);
    return { numerator: hours * 3600n + minutes * 60n + seconds, denominator: 1n };
  }
  return readNumber(plain) ?? sumOf(plain, SECONDS);
}

/** Metres: "3.5 km", "2 mi", or a number of metres alone. */
export function distanceOf(text: string): ExactNumber | undefined {
  const plain = text.trim().toLowerCase();
  return readNumber(plain) ?? sumOf(plain, METRES);
}

type Units = readonly (readonly [names: RegExp, numerator: bigint, denominator: bigint])[];
const SECONDS: Units = [
  [/^(?:d|days?)$/u, 86_400n, 1n],
  [/^(?:h|hrs?|hours?)$/u, 3600n, 1n],
  [/^(?:m|mins?|minutes?)$/u, 60n, 1n],
  [/^(?:s|secs?|seconds?)$/u, 1n, 1n],
];
const METRES: Units = [
  [/^(?:km|kilomet(?:er|re)s?)$/u, 1000n, 1n],
  [/^(?:m|met(?:er|re)s?)$/u, 1n, 1n],
  [/^(?:mi|miles?)$/u, 1_609_344n, 1000n],
  [/^(?:ft|foot|feet)$/u, 3048n, 10_000n],
  [/^(?:yd|yards?)$/u, 9144n, 10_000n],
];

function sumOf(text: string, units: Units): ExactNumber | undefined {
  const parts = [...text.matchAll(/(\d[\d,]*(?:\.\d+)?)\s*([a-z]+)/gu)];
  const rest = text.replaceAll(/(\d[\d,]*(?:\.\d+)?)\s*([a-z]+)|[\s,]|\band\b/gu, '');
  if (parts.length === 0 || parts.length > 4 || rest !== '') return undefined;
  let total: ExactNumber | undefined = { numerator: 0n, denominator: 1n };
  for (const [, amount, name] of parts) {
    const value = readNumber(amount);
    const unit = units.find(([names]) => names.test(name));
    if (value === undefined || unit === undefined) return undefined;
    const below = value.denominator * unit[2];
    total = readNumber(
      `${total.numerator * below + value.numerator * unit[1] * total.denominator}/${total.denominator * below}`,
    );
    if (total === undefined) return undefined;
  }
  return total;
}

function monthOf(name: string): string {
  return String(MONTHS.indexOf(name) + 1);
}

function isoDay(year: string, month: string, day: string): string | undefined {
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const at = new Date(`${iso}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(iso) ? iso : undefined;
}
