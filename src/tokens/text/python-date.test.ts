// Expected values are what Python 3.11 prints for datetime(...).strftime(...) in the C locale.

import { expect, it } from 'vitest';
import { checkDate, strftime } from './python-date.ts';

it.each([
  ['2026-11-30', '%d %b %Y', '30 Nov 2026'],
  ['2026-11-30', '%Y-%m-%d', '2026-11-30'],
  ['2024-12-31', '%A, %B %e, %Y is day %j', 'Tuesday, December 31, 2024 is day 366'],
  ['2024-03-05', '%a %-d.%-m.%y (%e) %w', 'Tue 5.3.24 ( 5) 2'],
  ['2024-03-05', '%H:%M:%S %I %p %f %F %T %R %D %h', '00:00:00 12 AM 000000 2024-03-05 00:00:00 00:00 03/05/24 Mar'],
  ['2024-03-05', '100%% %-j', '100% 65'],
  ['0050-12-31', '%d %B, day %j', '31 December, day 365'],
  ['0004-12-31', 'day %j', 'day 366'],
])('%s as %s', (day, format, expected) => {
  expect(strftime(day, format)).toBe(expected);
});

it('refuses days that do not exist', () => {
  for (const day of ['2026-02-31', '2026-11-31', '2025-02-29', '2026-13-01', '2026-00-10', '0000-01-01']) {
    expect(() => checkDate(day), day).toThrow(
      expect.objectContaining({ code: 'bad-date', message: expect.stringContaining(`no day ${day}`) as string }),
    );
  }
  for (const day of ['2024-02-29', '0001-01-01', '9999-12-31', undefined]) checkDate(day);
});

it('refuses what it does not know', () => {
  for (const format of ['%Q', '%-Q', 'ends in %']) {
    expect(() => strftime('2024-03-05', format), format).toThrow(expect.objectContaining({ code: 'template-failed' }));
  }
});
