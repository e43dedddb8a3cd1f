// The forms of the town office that are fields and no more.

import type { FormSpec } from './form.ts';

export const CONTACT: FormSpec = {
  id: 'contact',
  title: 'Contact the town office',
  intro: 'We answer within three working days.',
  send: 'Send message',
  sections: [
    {
      legend: 'About you',
      fields: [
        { type: 'text', name: 'name', label: 'Full name', required: true },
        { type: 'email', name: 'email', label: 'E-mail', required: true },
        { type: 'tel', name: 'phone', label: 'Telephone' },
      ],
    },
    {
      legend: 'Your message',
      fields: [
        {
          type: 'select',
          name: 'topic',
          label: 'Topic',
          required: true,
          options: ['Refuse', 'Parking', 'Schools', 'Noise', 'Something else'],
        },
        { type: 'area', name: 'message', label: 'Message', required: true },
        { type: 'tick', name: 'copy', label: 'Send me a copy' },
      ],
    },
  ],
};

/** Taken names are told by the server only. */
export const SIGN_UP: FormSpec = {
  id: 'sign-up',
  title: 'Open a citizen account',
  intro: 'With an account you can follow your requests.',
  send: 'Open account',
  sections: [
    {
      legend: 'Account',
      fields: [
        {
          type: 'text',
          name: 'username',
          label: 'User name',
          required: true,
          pattern: /^[a-z][a-z\d-]{3,19}$/,
          help: '4 to 20 small letters, digits or hyphens',
        },
        { type: 'email', name: 'email', label: 'E-mail', required: true },
        {
          type: 'password',
          name: 'password',
          label: 'Password',
          required: true,
          pattern: /^(?=.*\d)(?=.*[A-Z]).{8,}$/,
          help: 'At least 8 characters, with a capital letter and a digit',
        },
        { type: 'password', name: 'repeat', label: 'Repeat password', required: true },
      ],
    },
    {
      legend: 'Person',
      fields: [
        { type: 'date', name: 'born', label: 'Date of birth', required: true },
        { type: 'tick', name: 'terms', label: 'I accept the terms', required: true },
        { type: 'tick', name: 'news', label: 'Send me news of the town' },
      ],
    },
  ],
  check: ({ password, repeat }): Record<string, string> =>
    password === repeat ? {} : { repeat: 'The passwords differ.' },
};

export const STAY: FormSpec = {
  id: 'stay',
  title: 'Book the guest house',
  intro: 'The guest house of the town has ten rooms.',
  send: 'Request booking',
  sections: [
    {
      legend: 'Stay',
      fields: [
        { type: 'date', name: 'arrival', label: 'Arrival', required: true },
        { type: 'date', name: 'departure', label: 'Departure', required: true },
        { type: 'number', name: 'adults', label: 'Adults', required: true, min: 1, max: 6 },
        { type: 'number', name: 'children', label: 'Children', min: 0, max: 6 },
        { type: 'radio', name: 'room', label: 'Room', required: true, options: ['Courtyard', 'Garden', 'Attic'] },
        { type: 'ticks', name: 'extras', label: 'Extras', options: ['Breakfast', 'Cot', 'Parking space', 'Bicycle'] },
      ],
    },
    { legend: 'Guest', fields: [{ type: 'text', name: 'guest', label: 'Name of the guest', required: true }] },
  ],
  check: ({ arrival, departure }): Record<string, string> =>
    String(departure) > String(arrival) ? {} : { departure: 'After the arrival.' },
};

const MARKS = ['Very bad', 'Bad', 'Fair', 'Good', 'Very good'];

export const SURVEY: FormSpec = {
  id: 'survey',
  title: 'Survey about the library',
  intro: 'It takes two minutes.',
  send: 'Hand in',
  sections: [
    {
      legend: 'Marks',
      fields: ['Opening hours', 'Choice of books', 'Staff', 'Building'].map((label) => ({
        type: 'radio' as const,
        name: label.toLowerCase().replace(/ /g, '-'),
        label,
        required: true,
        options: MARKS,
      })),
    },
    {
      legend: 'Habits',
      fields: [
        {
          type: 'ticks',
          name: 'media',
          label: 'What do you borrow?',
          options: ['Books', 'Films', 'Music', 'Games', 'Magazines'],
        },
        { type: 'range', name: 'visits', label: 'Visits a month', min: 0, max: 20 },
        { type: 'area', name: 'wish', label: 'What do you wish for?' },
      ],
    },
  ],
};

export const HALL: FormSpec = {
  id: 'hall',
  title: 'Hire the town hall',
  intro: 'Evenings and weekends.',
  send: 'Ask for the hall',
  sections: [
    {
      legend: 'Event',
      fields: [
        { type: 'text', name: 'event', label: 'Name of the event', required: true },
        { type: 'date', name: 'day', label: 'Day', required: true },
        { type: 'time', name: 'from', label: 'From', required: true },
        { type: 'time', name: 'until', label: 'Until', required: true },
        { type: 'number', name: 'guests', label: 'Guests', required: true, min: 1, max: 300 },
        { type: 'color', name: 'light', label: 'Colour of the light' },
        {
          type: 'ticks',
          name: 'rooms',
          label: 'Rooms',
          required: true,
          options: ['Great hall', 'Kitchen', 'Foyer', 'Stage'],
        },
      ],
    },
  ],
  check: ({ from, until }): Record<string, string> =>
    String(until) > String(from) ? {} : { until: 'After the beginning.' },
};

/** What the town knows of a citizen already; shown filled in. */
export const RECORD: FormSpec = {
  id: 'record',
  title: 'Your record',
  intro: 'Tell us what has changed.',
  send: 'Save changes',
  sections: [
    {
      legend: 'Person',
      fields: [
        { type: 'text', name: 'name', label: 'Full name', required: true },
        { type: 'text', name: 'street', label: 'Street and number', required: true },
        { type: 'text', name: 'town', label: 'Town', required: true },
        { type: 'text', name: 'postcode', label: 'Postcode', required: true },
        { type: 'tel', name: 'phone', label: 'Telephone' },
        { type: 'email', name: 'email', label: 'E-mail', required: true },
        { type: 'radio', name: 'letters', label: 'Letters', required: true, options: ['By post', 'By e-mail'] },
      ],
    },
  ],
};

export const PLAIN_FORMS: readonly FormSpec[] = [CONTACT, SIGN_UP, STAY, SURVEY, HALL];
