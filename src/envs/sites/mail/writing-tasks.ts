// Mails to write, answer, pass on and keep, and the settings of writing.

import { quoted } from '../kit/oracle-cell.ts';
import { pickFitting, template, type Template } from '../kit/template.ts';
import { someDay } from '../kit/words.ts';
import { mailApp } from './app.ts';
import { mailWorld, type Written } from './world.ts';

/** Reading a mail is nothing that was not asked for. */
export const READ_FREELY = ['mails.*.read'];
export const OPEN = (subject: string): string =>
  `await fill('q', ${quoted(subject)}); await submit('Search'); await open(${quoted(subject)});`;

const WRITE = ({ to, subject, text }: Pick<Written, 'to' | 'subject' | 'text'>): string =>
  `await open('Write'); await fill('to', ${quoted(to)}); await fill('subject', ${quoted(subject)}); await fill('text', ${quoted(text)});`;

export const WRITING_TASKS: readonly Template[] = [
  template(mailApp, 'mail-send', 'train', (rng) => {
    const state = mailWorld(rng);
    const { name, address } = rng.pick(state.contacts);
    const subject = `${rng.pick(['Dinner', 'Concert', 'Walk', 'Cinema'])} on ${rng.pick(['Friday', 'Saturday', 'Sunday'])}`;
    const text = `I have a table for ${rng.integer(2, 9)} at ${rng.integer(6, 10)} o'clock. Will you come?`;
    const mail = { to: address, subject, text };
    return {
      state,
      start: '/folder/Inbox',
      instruction: `Write a mail to ${name}; the address is among my contacts. Subject: ${subject} Text: ${text}`,
      params: { name, subject, text },
      goal: (after) => void after.sent.push({ id: 's1', ...mail, kind: 'new', about: '' }),
      free: READ_FREELY,
      oracle: `${WRITE(mail)} await submit('Send');`,
    };
  }),
  template(mailApp, 'mail-reply', 'train', (rng) => {
    const state = mailWorld(rng);
    const { id, from, subject } = pickFitting(rng, state.mails, (mail) => state.contacts.includes(mail.from));
    const text = rng.pick([
      'Yes, gladly.',
      'Sorry, I cannot make it.',
      'Let us talk about it on Monday.',
      'Thank you, that helps a lot.',
    ]);
    return {
      state,
      start: '/folder/Inbox',
      instruction: `Reply to the mail “${subject}” from ${from.name} with these words and nothing else: ${text}`,
      params: { subject, text },
      goal: (after) =>
        void after.sent.push({ id: 's1', to: from.address, subject: `Re: ${subject}`, text, kind: 'reply', about: id }),
      free: READ_FREELY,
      oracle: `${OPEN(subject)} await open('Reply'); await fill('text', ${quoted(text)}); await submit('Send');`,
    };
  }),
  template(mailApp, 'mail-forward', 'test', (rng) => {
    const state = mailWorld(rng);
    const { id, from, subject } = pickFitting(rng, state.mails, (mail) => state.contacts.includes(mail.from));
    const { name, address } = pickFitting(rng, state.contacts, (one) => one.id !== from.id);
    return {
      state,
      start: '/folder/Inbox',
      instruction: `Forward the mail “${subject}” from ${from.name} to ${name}, without adding any words.`,
      params: { subject, name },
      goal: (after) =>
        void after.sent.push({
          id: 's1',
          to: address,
          subject: `Fwd: ${subject}`,
          text: '',
          kind: 'forward',
          about: id,
        }),
      free: READ_FREELY,
      oracle: `${OPEN(subject)} await open('Forward'); await fill('to', ${quoted(address)}); await submit('Send');`,
    };
  }),
  template(mailApp, 'mail-draft', 'test', (rng) => {
    const state = mailWorld(rng);
    const { name, address } = rng.pick(state.contacts);
    const mail = {
      to: address,
      subject: `Offer ${rng.integer(100, 999)}`,
      text: `The price is ${rng.integer(20, 90)} pounds a day.`,
    };
    return {
      state,
      start: '/folder/Inbox',
      instruction: `Prepare a mail to ${name} with the subject “${mail.subject}” and the text “${mail.text}”. Keep it as a draft; do not send it.`,
      params: { name, subject: mail.subject },
      goal: (after) => void after.drafts.push({ id: 'd1', ...mail, kind: 'new', about: '' }),
      free: READ_FREELY,
      oracle: `${WRITE(mail)} await submit('Keep as draft');`,
    };
  }),
  template(mailApp, 'mail-away', 'train', (rng) => {
    const state = mailWorld(rng);
    const day = someDay(rng);
    const text = `I am away for ${rng.integer(2, 5)} weeks and will read your mail when I am back.`;
    return {
      state,
      start: '/folder/Inbox',
      instruction: `Switch on the automatic reply from ${day} on, with this text: ${text}`,
      params: { day, text },
      goal: (after) => void Object.assign(after.settings, { autoReply: true, autoReplyFrom: day, autoReplyText: text }),
      free: READ_FREELY,
      oracle: `await open('Settings'); await click('[name=autoReply]'); await set('autoReplyFrom', '${day}'); await fill('autoReplyText', ${quoted(text)}); await submit('Save');`,
    };
  }),
  template(mailApp, 'mail-signature', 'train', (rng) => {
    const state = mailWorld(rng);
    const signature = `${state.me.name}, ${rng.pick(['Treasurer', 'Editor', 'Head of Sales', 'Librarian'])}`;
    return {
      state,
      start: '/folder/Inbox',
      instruction: `Change my signature to: ${signature}`,
      params: { signature },
      goal: (after) => void (after.settings.signature = signature),
      free: READ_FREELY,
      oracle: `await open('Settings'); await fill('signature', ${quoted(signature)}); await submit('Save');`,
    };
  }),
];
