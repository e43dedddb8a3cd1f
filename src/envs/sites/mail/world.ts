// A mailbox: people, mails in folders, drafts, what was sent, settings. Drawn by seed, without pages.

import type { Rng } from '../../../util/index.ts';
import { code, firstNames, people, some } from '../kit/words.ts';

export const FOLDERS = ['Inbox', 'Archive', 'Travel', 'Receipts', 'Bin'];

export type Person = { readonly id: string; readonly name: string; readonly address: string };

export type Mail = {
  readonly id: string;
  readonly from: Person;
  readonly day: string;
  subject: string;
  text: string;
  folder: string;
  read: boolean;
  starred: boolean;
  readonly attachment: { readonly name: string; readonly text: string } | null;
};

/** What was sent or is kept to be sent; `about` is the mail that it answers or passes on. */
export type Written = { id: string; to: string; subject: string; text: string; kind: string; about: string };

export type MailState = {
  readonly me: Person;
  readonly contacts: readonly Person[];
  mails: Mail[];
  sent: Written[];
  drafts: Written[];
  downloads: { id: string }[];
  settings: { autoReply: boolean; autoReplyFrom: string; autoReplyText: string; signature: string };
};

const SUBJECTS = [
  ['Lunch on Thursday?', 'Shall we try the new place by the station?'],
  ['Minutes of the meeting', 'The minutes are below. Tell me what is missing.'],
  ['Keys', 'I left the keys with your neighbour.'],
  ['Photos of the trip', 'The photos are sorted at last.'],
  ['Quarterly figures', 'The figures are better than we feared.'],
  ['Parking permit', 'The permit has to be renewed before the end of the month.'],
  ['Choir rehearsal', 'We start a little later this week.'],
  ['Broken link', 'The link on the second page does not work.'],
  ['Garden fence', 'The fence can be mended next weekend.'],
  ['Recipe', 'You asked for the recipe, here it is.'],
  ['Train tickets', 'The tickets are booked, seats by the window.'],
  ['Draft of the letter', 'Please have a look before I send it.'],
  ['School fair', 'We still need two cakes.'],
  ['New phone number', 'My old number works until Friday.'],
  ['Book you lent me', 'I will bring it back on Sunday.'],
  ['Insurance papers', 'The papers came with the post today.'],
] as const;

const SENDERS = ['Daily Brief', 'Orchard Deals', 'Trailhead News'];

function person(name: string, domain: string): Person {
  const id = name.toLowerCase().replace(/[^a-z]+/g, '.');
  return { id, name, address: `${id}@${domain}` };
}

export function mailWorld(rng: Rng): MailState {
  const [mine, ...names] = people(rng, 12);
  const contacts = names.map((name) => person(name, rng.pick(['post.example', 'letters.example', 'inbox.example'])));
  const newsletters = SENDERS.map((name) => person(name, 'news.example'));
  // Each subject comes once: with it and the sender a mail is named.
  const personal = some(rng, SUBJECTS, 14).map(([subject, text]) => ({
    from: rng.pick(contacts),
    subject,
    text: `Hello,\n\n${text}\nRef ${code(rng, 5)}\n`,
    attachment:
      rng.next() < 0.35
        ? {
            name: `${subject
              .toLowerCase()
              .replace(/[^a-z]+/g, '-')
              .replace(/-$/, '')}.txt`,
            text: `${subject}\n${code(rng, 12)}\n`,
          }
        : null,
  }));
  const news = newsletters.flatMap((from) =>
    Array.from({ length: rng.integer(2, 5) }, (_, i) => ({
      from,
      subject: `${from.name} no. ${100 + rng.integer(0, 9) * 10 + i}`,
      text: `Hello reader,\n\n${rng.integer(5, 60)} things to know today.\n`,
      attachment: null,
    })),
  );
  const mails = rng.shuffle([...personal, ...news]).map((mail, i): Mail => ({
    id: `m${i + 1}`,
    day: `2027-03-${String(28 - i).padStart(2, '0')}`,
    ...mail,
    folder: 'Inbox',
    read: rng.next() < 0.5,
    starred: rng.next() < 0.15,
  }));
  return {
    me: person(mine, 'post.example'),
    contacts,
    mails,
    sent: [],
    drafts: [],
    downloads: [],
    settings: {
      autoReply: false,
      autoReplyFrom: '',
      autoReplyText: '',
      signature: `Best wishes, ${mine.split(' ')[0]}`,
    },
  };
}

/** A name that none of the contacts has. */
export function stranger(rng: Rng, { contacts }: Pick<MailState, 'contacts'>): string {
  const taken = new Set(contacts.map(({ name }) => name.split(' ')[0]));
  return firstNames(rng, 25).find((name) => !taken.has(name))!;
}
