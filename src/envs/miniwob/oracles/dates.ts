// Oracles of the tasks with a calendar: dates, flights, events of a day.

import { found, one, type Oracle, type OracleHand } from './hand.ts';

/** Opens the calendar of a field and clicks a day of 2016. */
async function pickDate(hand: OracleHand, date: string): Promise<void> {
  const [month, day] = date.split('/').map(Number);
  await hand.click(one('#datepicker'));
  // The calendar opens at the day nearest to today that may be chosen, which is its last.
  for (let shown = 12; shown > month; shown--) await hand.click(one('.ui-datepicker-prev'));
  await hand.click(
    `[...document.querySelectorAll('.ui-datepicker-calendar td:not(.ui-datepicker-other-month) a')].find((e) => e.textContent === '${day}')`,
  );
}

const date: Oracle = async (hand) => {
  await pickDate(hand, found(/Select (\S+) as/, hand.utterance));
  await hand.click(one('#subbtn'));
};

const flight: Oracle = async (hand) => {
  const [, wanted, from, to, day] = /Book the (\w+) one-way flight from: (.*) to: (.*) on (\S+)\./.exec(
    hand.utterance,
  )!;
  for (const [field, place] of [
    ['#flight-from', from],
    ['#flight-to', to],
  ]) {
    const full = await hand.read<string>(`DOMESTIC_FLIGHTS.find((e) => e.includes(${JSON.stringify(place)}))`);
    await hand.fill(one(field), full);
    await hand.wait(350); // the list of suggestions comes late and covers what is below it
    await hand.press('Escape');
  }
  await pickDate(hand, day);
  await hand.click(one('#search'));
  const [selector, attribute] = wanted === 'cheapest' ? ['.flight-price', 'price'] : ['.time-duration', 'duration'];
  const best = await hand.read<number>(`(() => {
    const values = [...document.querySelectorAll('${selector}')].map((e) => Number(e.dataset.${attribute}));
    return values.indexOf(Math.min(...values));
  })()`);
  await hand.click(one('.flight-price', best));
};

const LENGTHS: Readonly<Record<string, number>> = { '30 mins': 1, '0.5 hours': 1, '60 mins': 2, '1 hour': 2 };
const HOURS: Readonly<Record<string, number>> = { '8AM': 16, '12PM': 24, '4PM': 32, '8PM': 40 };

const event: Oracle = async (hand) => {
  const [, length, name, start, end] = /Create a (.*) event named "(.*)", between (\w+) and (\w+)/.exec(
    hand.utterance,
  )!;
  const halves = LENGTHS[length] ?? 3;
  // Events that are there cover their half-hours.
  const free = await hand.read<number>(`(() => {
    const taken = [...document.querySelectorAll('.event')].map((e) => e.getBoundingClientRect());
    const isFree = (i) => {
      const { top, bottom } = document.getElementById('hh-' + i).getBoundingClientRect();
      return taken.every((event) => event.bottom <= top + 1 || event.top >= bottom - 1);
    };
    for (let first = ${HOURS[start]}; first + ${halves} <= ${HOURS[end]}; first++) {
      if ([...Array(${halves}).keys()].every((k) => isFree(first + k))) return first;
    }
    return -1;
  })()`);
  const from = await hand.reference(one(`#hh-${free}`));
  const to = await hand.reference(one(`#hh-${free + halves - 1}`));
  await hand.call('drag', { from, to });
  await hand.fill(one('#event-name'), name);
  await hand.click(one('#controls .create'));
};

export const DATES: Readonly<Record<string, Oracle>> = {
  'book-flight': flight,
  'book-flight-nodelay': flight,
  'choose-date': date,
  'choose-date-easy': date,
  'choose-date-medium': date,
  'choose-date-nodelay': date,
  'daily-calendar': event,
};
