// The mailbox as pages: folders with ticks and actions for many mails at once, a mail, a form to write, search, settings.

import { markup, raw, type Html } from '../html.ts';
import { htmlReply, type SiteReply } from '../site.ts';
import { layout, options, pageLinks, pageNumber, postButton, type PageParts } from '../kit/layout.ts';
import { FOLDERS, type Mail, type MailState, type Written } from './world.ts';

const ROWS = 10;

export function mailPage(state: MailState, parts: PageParts): SiteReply {
  const unread = state.mails.filter(({ folder, read }) => folder === 'Inbox' && !read).length;
  const look = {
    site: 'Linnet Mail',
    accent: '#4a2f6b',
    side: true,
    links: [
      ['/compose', 'Write'] as const,
      ...FOLDERS.map((name) => [`/folder/${name}`, name] as const),
      ['/sent', 'Sent'] as const,
      ['/drafts', 'Drafts'] as const,
      ['/contacts', 'Contacts'] as const,
      ['/settings', 'Settings'] as const,
    ],
  };
  return htmlReply(layout(look, { corner: markup`${unread} unread · ${state.me.address}`, ...parts }));
}

const searchForm = (words = ''): Html =>
  markup`<form action="/search" role="search"><label for="q">Search mail</label> <input id="q" name="q" type="search" value="${words}"> <button>Search</button></form>`;

const ALL = `
document.querySelector('#all')?.addEventListener('change', (event) => {
  for (const box of document.querySelectorAll('[name=mail]')) box.checked = event.target.checked;
});`;

function mailTable(mails: readonly Mail[], back: string): Html {
  if (mails.length === 0) return markup`<p>There is nothing here.</p>`;
  return markup`<form method="post" action="/bulk"><input type="hidden" name="back" value="${back}">
<table><thead><tr><th><input type="checkbox" id="all" aria-label="Select all on this page"></th><th>From</th><th>Subject</th><th>Day</th><th></th></tr></thead><tbody>
${mails.map(
  ({
    id,
    from,
    subject,
    day,
    read,
    starred,
    attachment,
  }) => markup`<tr${!read && raw(' style="font-weight:700"')}><td><input type="checkbox" name="mail" value="${id}" aria-label="Select ${subject}"></td><td>${from.name}</td>
<td><a href="/mail/${id}">${subject}</a></td><td>${day}</td><td>${read ? '' : 'Unread'} ${starred && '★'} ${attachment !== null && '📎'}</td></tr>\n`,
)}</tbody></table>
<p><button name="action" value="archive">Archive</button> <button name="action" value="bin">Move to bin</button> <button name="action" value="read">Mark as read</button> <button name="action" value="unread">Mark as unread</button></p></form>`;
}

export function folderPage(state: MailState, folder: string, query: URLSearchParams): SiteReply {
  const found = state.mails.filter((mail) => mail.folder === folder);
  const pages = Math.max(1, Math.ceil(found.length / ROWS));
  const page = pageNumber(query.get('page'), pages);
  const here = `/folder/${folder}?page=${page}`;
  return mailPage(state, {
    title: folder,
    body: markup`${searchForm()}${mailTable(found.slice((page - 1) * ROWS, page * ROWS), here)}${pages > 1 && pageLinks(page, pages, (number) => `/folder/${folder}?page=${number}`)}`,
    script: ALL,
  });
}

export function searchPage(state: MailState, words: string): SiteReply {
  const found = state.mails.filter(({ from, subject, text }) =>
    `${from.name} ${subject} ${text}`.toLowerCase().includes(words.toLowerCase()),
  );
  return mailPage(state, {
    title: 'Search',
    body: markup`${searchForm(words)}<p role="status">${found.length} found</p>${mailTable(found, `/search?q=${encodeURIComponent(words)}`)}`,
    script: ALL,
  });
}

export function readingPage(state: MailState, mail: Mail): SiteReply {
  const { id, from, day, subject, text, folder, starred, attachment } = mail;
  return mailPage(state, {
    title: subject,
    body: markup`<p>From ${from.name} (${from.address}) on ${day}, in ${folder}</p>
<div id="text">${text
      .trim()
      .split('\n\n')
      .map((part) => markup`<p>${part}</p>`)}</div>
${attachment !== null && markup`<p>Attachment: <a href="/mail/${id}/attachment" download="${attachment.name}">${attachment.name}</a>${state.downloads.some((one) => one.id === id) && ' (downloaded)'}</p>`}
<p><a href="/compose?reply=${id}">Reply</a> <a href="/compose?forward=${id}">Forward</a></p>
<p>${postButton(`/mail/${id}/star`, starred ? 'Remove star' : 'Add star')} ${postButton(`/mail/${id}/archive`, 'Archive')} ${postButton(`/mail/${id}/bin`, 'Move to bin')} ${postButton(`/mail/${id}/unread`, 'Mark as unread')}</p>
<form method="post" action="/mail/${id}/move"><p><label for="folder">Move to</label> <select id="folder" name="folder">${options(FOLDERS, folder)}</select> <button>Move</button></p></form>`,
  });
}

export function composePage(state: MailState, draft: Omit<Written, 'id'>, problem?: string): SiteReply {
  const { to, subject, text, kind, about } = draft;
  const original = state.mails.find(({ id }) => id === about);
  return mailPage(state, {
    title: kind === 'forward' ? 'Forward' : kind === 'reply' ? 'Reply' : 'Write',
    body: markup`${problem !== undefined && markup`<p role="alert" class="error">${problem}</p>`}
<form method="post" action="/send"><input type="hidden" name="kind" value="${kind}"><input type="hidden" name="about" value="${about}">
<p><label for="to">To</label> <input id="to" name="to" list="people" value="${to}" autocomplete="off" size="40"></p>
<datalist id="people">${state.contacts.map(({ name, address }) => markup`<option value="${address}">${name}</option>`)}</datalist>
<p><label for="subject">Subject</label> <input id="subject" name="subject" value="${subject}" size="40"></p>
<p><label for="body">Text</label><br><textarea id="body" name="text" rows="8" cols="60">${text}</textarea></p>
<p><button>Send</button> <button formaction="/draft">Keep as draft</button></p></form>
${original !== undefined && markup`<blockquote>${original.from.name} wrote: ${original.text}</blockquote>`}`,
  });
}

export function writtenPage(state: MailState, title: string, list: readonly Written[]): SiteReply {
  return mailPage(state, {
    title,
    body: markup`<table><thead><tr><th>To</th><th>Subject</th></tr></thead><tbody>${list.map(({ to, subject }) => markup`<tr><td>${to}</td><td>${subject}</td></tr>`)}</tbody></table>`,
  });
}

export function settingsPage(state: MailState, saved: boolean): SiteReply {
  const { autoReply, autoReplyFrom, autoReplyText, signature } = state.settings;
  return mailPage(state, {
    title: 'Settings',
    body: markup`${saved && markup`<p role="status" class="ok">Saved.</p>`}<form method="post" action="/settings">
<fieldset><legend>Automatic reply</legend>
<p><label class="tick"><input type="checkbox" name="autoReply"${autoReply && raw(' checked')}> Answer every mail by itself</label></p>
<p><label for="autoReplyFrom">From</label> <input id="autoReplyFrom" name="autoReplyFrom" type="date" value="${autoReplyFrom}"></p>
<p><label for="autoReplyText">Text</label><br><textarea id="autoReplyText" name="autoReplyText" rows="3" cols="60">${autoReplyText}</textarea></p></fieldset>
<p><label for="signature">Signature</label> <input id="signature" name="signature" value="${signature}" size="40"></p>
<button>Save</button></form>`,
  });
}
