// Oracles of the inbox, the social media and the other pages of many messages and contacts.

import { found, one, worded, type Oracle, type OracleHand } from './hand.ts';

type MailTask = {
  readonly action: 'reply' | 'forward' | 'delete' | 'star';
  readonly by: string;
  readonly to?: string;
  readonly message?: string;
};

function mailTask({ utterance, fields }: OracleHand): MailTask {
  if (fields.by !== undefined) {
    // The task that only forwards does not say so in its fields.
    const action = (fields.task ?? 'forward') as MailTask['action'];
    return { action, by: fields.by, to: fields.to, message: fields.message };
  }
  const by = found(/email by (.*?) and /, utterance);
  const message = /with the text "(.*)"/.exec(utterance)?.[1];
  if (message !== undefined) return { action: 'reply', by, message };
  const to = /forward that email to (.*)\./.exec(utterance)?.[1];
  if (to !== undefined) return { action: 'forward', by, to };
  return { action: utterance.includes('trash') ? 'delete' : 'star', by };
}

const mail: Oracle = async (hand) => {
  const { action, by, to = '', message = '' } = mailTask(hand);
  const thread = `${worded('#main .email-sender', by)}.closest('.email-thread')`;
  if (action === 'delete') return hand.click(`${thread}.querySelector('.trash')`);
  if (action === 'star') return hand.click(`${thread}.querySelector('.star')`);
  await hand.click(`${thread}.querySelector('.email-subject')`);
  await hand.click(one(`#email .email-${action}`));
  if (action === 'reply') await hand.fill(one('#reply-text'), message);
  else await hand.fill(one('#forward .forward-sender'), to);
  await hand.click(one(`#send-${action}`));
};

const postsBy = (user: string): string =>
  `[...document.querySelectorAll('.media')].filter((e) => e.querySelector('.username').textContent === ${JSON.stringify(user)})`;

const post: Oracle = async (hand) => {
  const user = found(/user (@\S+),/, hand.utterance);
  const label = found(/on the "(.*)" button/, hand.utterance);
  const action = await hand.read<string>(
    `Object.keys(ACTIONS).find((key) => ACTIONS[key] === ${JSON.stringify(label)})`,
  );
  const media = `${postsBy(user)}[0]`;
  const button = `${media}.querySelector('.${action}')`;
  if (!(await hand.sees(button))) await hand.click(`${media}.querySelector('.more')`);
  await hand.click(button);
};

const posts: Oracle = async (hand) => {
  const user = found(/by (@\S+) and/, hand.utterance);
  const action = found(/Click the "(\w+)"/, hand.utterance).toLowerCase();
  const all = await hand.read<number>(`${postsBy(user)}.length`);
  const wanted = Number(/on (\d+) posts?/.exec(hand.utterance)?.[1] ?? all);
  for (let i = 0; i < wanted; i++) await hand.click(`${postsBy(user)}[${i}].querySelector('.${action}')`);
  await hand.click(one('#submitRow button'));
};

const search: Oracle = async (hand) => {
  const wanted = Number(found(/the (\d)\w\w search result/, hand.utterance)) - 1;
  await hand.fill(one('#search-text'), found(/"(.*?)"/, hand.utterance));
  await hand.click(one('#search'));
  if (wanted >= 3) await hand.click(worded('#pagination a', String(Math.floor(wanted / 3) + 1)));
  await hand.click(one(`#page-content a[data-result="${wanted}"]`));
};

/** Two contacts may share a name; the page knows which it means. */
const phoneBook: Oracle = async (hand) => {
  const { index, property } = await hand.replay<{ index: number; property: string }>(
    'const { index, property } = chooseContact(generateContacts()); return { index, property };',
  );
  for (let page = 0; page < index; page++) await hand.click(worded('#pagination a', '>'));
  await hand.click(one(`#contact .${property}`));
};

export const MAIL_AND_MEDIA: Readonly<Record<string, Oracle>> = {
  ...Object.fromEntries(
    ['', '-delete', '-forward', '-forward-nl', '-forward-nl-turk', '-important', '-nl-turk', '-noscroll', '-reply']
      .concat('-star-reply')
      .map((variant) => [`email-inbox${variant}`, mail]),
  ),
  'phone-book': phoneBook,
  'search-engine': search,
  'social-media': post,
  'social-media-all': posts,
  'social-media-some': posts,
};
