// Python's strftime for a day at midnight, in English, as chat templates ask for it. A directive that is not here is
// refused by name: what would come out otherwise is its own letters in the prompt.

import { TabwrightError } from '../../core/index.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];
const DAY_MS = 86_400_000;

/** Refuses what is no date of the form that is asked for everywhere here, and days that no calendar has. */
export function checkDate(date: string | undefined): void {
  if (date === undefined) return;
  const fail = (message: string): never => {
    throw new TabwrightError('config', message, { code: 'bad-date', details: { date } });
  };
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) fail(`A date is written like 2026-11-30, not ${date}.`);
  const read = new Date(`${date}T00:00:00Z`);
  // A day too many is read as one of the next month; Python's years begin with 1.
  const exists = !Number.isNaN(read.getTime()) && read.toISOString().startsWith(date) && !date.startsWith('0000');
  if (!exists) fail(`There is no day ${date}; give one that a calendar has, like 2026-11-30.`);
}

/** `day` as `2026-11-30`. */
export function strftime(day: string, format: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  const [year, month, dayOfMonth] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  const dayOfYear = 1 + (date.getTime() - Date.parse(`${day.slice(0, 4)}-01-01T00:00:00Z`)) / DAY_MS;
  const padded = (value: number, width = 2, fill = '0'): string => String(value).padStart(width, fill);
  const weekday = DAYS[date.getUTCDay()];
  const values: Readonly<Record<string, string>> = {
    ...{
      Y: padded(year, 4),
      y: padded(year % 100),
      m: padded(month + 1),
      d: padded(dayOfMonth),
      j: padded(dayOfYear, 3),
    },
    ...{
      B: MONTHS[month],
      b: MONTHS[month].slice(0, 3),
      h: MONTHS[month].slice(0, 3),
      A: weekday,
      a: weekday.slice(0, 3),
    },
    ...{ H: '00', I: '12', M: '00', S: '00', p: 'AM', f: '000000', w: String(date.getUTCDay()), '%': '%' },
    ...{
      e: padded(dayOfMonth, 2, ' '),
      F: day,
      T: '00:00:00',
      R: '00:00',
      D: `${padded(month + 1)}/${padded(dayOfMonth)}/${padded(year % 100)}`,
    },
    ...{ '-d': String(dayOfMonth), '-m': String(month + 1), '-H': '0', '-I': '12', '-j': String(dayOfYear) },
  };
  return format.replace(/%(-?.|$)/gs, (directive, name: string) => {
    const value = values[name];
    if (value !== undefined) return value;
    throw new TabwrightError(
      'policy',
      `The chat template asks for the date as ${JSON.stringify(format)}; ${directive} is not known here.`,
      {
        code: 'template-failed',
        details: { directive },
      },
    );
  });
}
