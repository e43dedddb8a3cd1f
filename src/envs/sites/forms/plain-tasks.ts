// Forms to fill in field by field: what was handed in must be exactly what was asked for, once.

import type { Rng } from '../../../util/index.ts';
import { quoted } from '../kit/oracle-cell.ts';
import { inTurn, pickFitting, template, type Made, type Template } from '../kit/template.ts';
import { code, longDate, people, some } from '../kit/words.ts';
import { officeApp } from './app.ts';
import { asKept, fieldsOf, type FormSpec, type Values } from './form.ts';
import { CONTACT, HALL, RECORD, SIGN_UP, STAY, SURVEY } from './specs.ts';
import { handIn, officeWorld, USER_NAMES, type OfficeState } from './world.ts';

/** Code of a cell that fills in the form and sends it; fields without a value stay as they are. */
export function fillIn(spec: FormSpec, values: Partial<Values>): string {
  const lines = fieldsOf(spec).flatMap((field): string[] => {
    const value = values[field.name];
    const { name } = field;
    if (value === undefined || value === '' || value === false) return [];
    if (field.type === 'tick') return [`await click('[name="${name}"]');`];
    if (field.type === 'radio') return [`await click(${quoted(`[name="${name}"][value="${String(value)}"]`)});`];
    if (field.type === 'ticks')
      return (value as readonly string[]).map((one) => `await click(${quoted(`[name="${name}"][value="${one}"]`)});`);
    const byScript = ['select', 'date', 'time', 'month', 'color', 'range'].includes(field.type);
    return [`await ${byScript ? 'set' : 'fill'}('${name}', ${quoted(value)});`];
  });
  return `${lines.join('\n')} await submit(${quoted(spec.send)});`;
}

/** Every field has a value, if an empty one: that is what the server keeps. */
function whole(spec: FormSpec, values: Values): Values {
  const empty = fieldsOf(spec).map(({ name, type }): [string, Values[string]] => [
    name,
    type === 'tick' ? false : type === 'ticks' ? [] : '',
  ]);
  return { ...Object.fromEntries(empty), ...values };
}

type Plain = {
  readonly state: OfficeState;
  readonly spec: FormSpec;
  readonly values: Values;
  readonly instruction: string;
};

function plain({ state, spec, values, instruction }: Plain): Made<OfficeState> {
  return {
    state,
    start: '/',
    instruction,
    params: asKept(values),
    goal: (after) => void handIn(after, spec.id, asKept(whole(spec, values))),
    oracle: `await open(${quoted(spec.title)}); ${fillIn(spec, values)}`,
  };
}

function mailOf(name: string): string {
  return `${name.toLowerCase().replace(' ', '.')}@letters.example`;
}

function account(rng: Rng, name: string, username: string): Values {
  const password = `${code(rng, 4)}-${code(rng, 3).toLowerCase()}${rng.integer(10, 99)}`;
  const born = `19${rng.integer(50, 99)}-${rng.pick(['02', '05', '09', '11'])}-${rng.integer(10, 28)}`;
  return { username, email: mailOf(name), password, repeat: password, born, terms: true, news: rng.next() < 0.5 };
}

const newsWords = ({ news }: Values): string =>
  news === true ? 'Subscribe to the news of the town.' : 'No news, please.';

export const PLAIN_TASKS: readonly Template[] = [
  template(officeApp, 'form-contact', 'train', (rng) => {
    const [name] = people(rng, 1);
    const topic = rng.pick(['Refuse', 'Parking', 'Schools', 'Noise']);
    const message = rng.pick([
      'When do you call back?',
      'It has been like this for two weeks.',
      'Whom do I have to ask?',
      'Please send somebody round.',
    ]);
    const copy = rng.next() < 0.5;
    const phone = rng.next() < 0.5 ? `0${rng.integer(1200, 1999)} ${rng.integer(100_000, 999_999)}` : '';
    const values = { name, email: mailOf(name), phone, topic, message, copy };
    return plain({
      state: officeWorld(rng),
      spec: CONTACT,
      values,
      instruction: `Send the town office a message in the name of ${name} (${values.email}, ${phone === '' ? 'no telephone number' : `telephone ${phone}`}). Topic: ${topic}. Message: “${message}” ${copy ? 'Ask for a copy.' : 'We need no copy.'}`,
    });
  }),
  template(officeApp, 'form-sign-up', 'train', (rng) => {
    const state = officeWorld(rng);
    const [name] = people(rng, 1);
    const values = account(rng, name, `${name.split(' ')[0].toLowerCase()}-${rng.integer(10, 99)}`);
    return plain({
      state,
      spec: SIGN_UP,
      values,
      instruction: `Open a citizen account for ${name}, born on ${longDate(String(values['born']))}: user name ${String(values['username'])}, e-mail ${String(values['email'])}, password ${String(values['password'])}. Accept the terms. ${newsWords(values)}`,
    });
  }),
  template(officeApp, 'form-name-taken', 'test', (rng, seed) => {
    const state = officeWorld(rng);
    const [name] = people(rng, 1);
    const way = inTurn(seed, ['free', 'taken']);
    const isTaken = way === 'taken';
    const first = pickFitting(rng, USER_NAMES, (one) => state.takenNames.includes(one) === isTaken);
    const second = `heath-${rng.integer(100, 999)}`;
    const values = account(rng, name, isTaken ? second : first);
    const made = plain({
      state,
      spec: SIGN_UP,
      values,
      instruction: `Open a citizen account with the user name ${first}, or with ${second} if that one is taken. E-mail ${String(values['email'])}, password ${String(values['password'])}, date of birth ${String(values['born'])}. Accept the terms. ${newsWords(values)} Then answer with the user name that the account has, and nothing else.`,
    });
    return {
      ...made,
      way,
      params: { ...made.params, username: first, second },
      answer: { kind: 'text', value: String(values['username']) },
      oracle: `await open(${quoted(SIGN_UP.title)}); ${fillIn(SIGN_UP, { ...values, username: first })}
        if (await read('#username-error') === undefined) repl.write(${quoted(first)});
        else {
          ${fillIn(SIGN_UP, { username: second, password: values['password'], repeat: values['repeat'] })}
          repl.write(${quoted(second)});
        }`,
    };
  }),
  template(officeApp, 'form-stay', 'train', (rng) => {
    const state = officeWorld(rng);
    const [guest] = people(rng, 1);
    const month = rng.pick(['03', '06', '08', '10']);
    const from = rng.integer(10, 20);
    const values = {
      arrival: `2027-${month}-${from}`,
      departure: `2027-${month}-${from + rng.integer(2, 8)}`,
      adults: String(rng.integer(1, 4)),
      children: String(rng.integer(1, 4)),
      room: rng.pick(['Courtyard', 'Garden', 'Attic']),
      extras: ['Breakfast', 'Cot', 'Parking space', 'Bicycle'].filter(() => rng.next() < 0.5),
      guest,
    };
    const extras =
      values.extras.length === 0 ? 'no extras' : `with ${values.extras.map((one) => one.toLowerCase()).join(' and ')}`;
    return plain({
      state,
      spec: STAY,
      values,
      instruction: `Ask for the ${values.room} room of the guest house from ${longDate(values.arrival)} to ${longDate(values.departure)} for ${guest}: adults ${values.adults}, children ${values.children}, ${extras}.`,
    });
  }),
  template(officeApp, 'form-survey', 'test', (rng) => {
    const state = officeWorld(rng);
    const marks = ['opening-hours', 'choice-of-books', 'staff', 'building'].map(
      (name) => [name, rng.pick(['Bad', 'Fair', 'Good', 'Very good'])] as const,
    );
    const media = ['Books', 'Films', 'Music', 'Games', 'Magazines'].filter(() => rng.next() < 0.5);
    const values = { ...Object.fromEntries(marks), media, visits: String(rng.integer(1, 19)), wish: '' };
    return plain({
      state,
      spec: SURVEY,
      values,
      instruction: `Fill in the survey about the library. ${marks.map(([name, mark]) => `${name.replace(/-/g, ' ')}: ${mark.toLowerCase()}`).join(', ')}. I ${media.length === 0 ? 'borrow nothing' : `borrow ${media.join(', ').toLowerCase()}`}, and go there ${values.visits} times a month. Leave the wish empty.`,
    });
  }),
  template(officeApp, 'form-hall', 'test', (rng) => {
    const state = officeWorld(rng);
    const hour = rng.integer(10, 17);
    const values = {
      event: `${rng.pick(['Spring', 'Summer', 'Harvest'])} ${rng.pick(['ball', 'concert', 'market'])}`,
      day: `2027-${rng.pick(['04', '07', '09'])}-${rng.integer(10, 28)}`,
      from: `${hour}:00`,
      until: `${hour + rng.integer(2, 6)}:30`,
      guests: String(rng.integer(20, 280)),
      light: rng.pick(['#ff8800', '#3366cc', '#22aa55']),
      rooms: some(rng, ['Great hall', 'Kitchen', 'Foyer', 'Stage'], 2),
    };
    const sorted = {
      ...values,
      rooms: ['Great hall', 'Kitchen', 'Foyer', 'Stage'].filter((room) => values.rooms.includes(room)),
    };
    return plain({
      state,
      spec: HALL,
      values: sorted,
      instruction: `Ask for the town hall on ${longDate(values.day)}, ${values.from} to ${values.until}, for the “${values.event}” with ${values.guests} guests. We need these rooms: ${values.rooms.join(', ').toLowerCase()}. The light has the colour ${values.light}.`,
    });
  }),
  template(officeApp, 'form-record', 'train', (rng) => {
    const state = officeWorld(rng);
    const phone = `0${rng.integer(1200, 1999)} ${rng.integer(100_000, 999_999)}`;
    const letters = pickFitting(rng, ['By post', 'By e-mail'], (one) => one !== state.record.letters);
    return {
      state,
      start: '/',
      instruction: `My new telephone number is ${phone}, and I want letters ${letters.toLowerCase()} now. Change that in my record at the town office, and nothing else.`,
      params: { phone, letters },
      goal: (after) => void Object.assign(after.record, { phone, letters }),
      oracle: `await open(${quoted(RECORD.title)}); ${fillIn(RECORD, { phone, letters })}`,
    };
  }),
];
