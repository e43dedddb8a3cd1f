// What the mailbox does with requests.

import { markup } from '../html.ts';
import { notFound, redirect } from '../site.ts';
import { badRequest, routes, sendFile, type App, type Handler } from '../kit/app.ts';
import { composePage, folderPage, mailPage, readingPage, searchPage, settingsPage, writtenPage } from './pages.ts';
import { FOLDERS, type Mail, type MailState, type Written } from './world.ts';

/** A mail by its id in the address. */
function withMail(
  act: (mail: Mail, state: MailState, form: URLSearchParams) => ReturnType<Handler<MailState>>,
): Handler<MailState> {
  return (state, { at, form }) => {
    const mail = state.mails.find(({ id }) => id === at.id);
    return mail === undefined ? notFound() : act(mail, state, form);
  };
}

function written(form: URLSearchParams): Omit<Written, 'id'> {
  const [to, subject, kind, about] = ['to', 'subject', 'kind', 'about'].map((name) => (form.get(name) ?? '').trim());
  return { to, subject, text: (form.get('text') ?? '').replace(/\r\n/g, '\n'), kind, about };
}

const compose: Handler<MailState> = (state, { query }) => {
  const find = (name: string): Mail | undefined => state.mails.find(({ id }) => id === query.get(name));
  const [reply, forward] = [find('reply'), find('forward')];
  if (reply !== undefined)
    return composePage(state, {
      to: reply.from.address,
      subject: `Re: ${reply.subject}`,
      text: '',
      kind: 'reply',
      about: reply.id,
    });
  if (forward !== undefined)
    return composePage(state, {
      to: '',
      subject: `Fwd: ${forward.subject}`,
      text: '',
      kind: 'forward',
      about: forward.id,
    });
  return composePage(state, { to: query.get('to') ?? '', subject: '', text: '', kind: 'new', about: '' });
};

const send: Handler<MailState> = (state, { form }) => {
  const mail = written(form);
  if (!/^[^\s@,]+@[^\s@,]+\.[a-z]+$/.test(mail.to))
    return composePage(state, mail, 'This is no address: a mail goes to one address.');
  state.sent.push({ id: `s${state.sent.length + 1}`, ...mail });
  return redirect('/sent');
};

const bulk: Handler<MailState> = (state, { form }) => {
  const chosen = new Set(form.getAll('mail'));
  const changes: Readonly<Record<string, Partial<Mail>>> = {
    archive: { folder: 'Archive' },
    bin: { folder: 'Bin' },
    read: { read: true },
    unread: { read: false },
  };
  const action = form.get('action') ?? '';
  if (!Object.hasOwn(changes, action)) return badRequest('There is no such action.');
  const change = changes[action];
  for (const mail of state.mails) if (chosen.has(mail.id)) Object.assign(mail, change);
  const back = form.get('back') ?? '';
  return redirect(/^\/(?:folder|search)\b/.test(back) ? back : '/folder/Inbox');
};

export const mailApp: App<MailState> = {
  host: 'www.linnet-mail.test',
  respond: routes<MailState>({
    'GET /': () => redirect('/folder/Inbox'),
    'GET /folder/:name': (state, { at, query }) =>
      FOLDERS.includes(at.name) ? folderPage(state, at.name, query) : notFound(),
    'GET /search': (state, { query }) => searchPage(state, (query.get('q') ?? '').trim()),
    'POST /bulk': bulk,
    'GET /mail/:id': withMail((mail, state) => {
      mail.read = true;
      return readingPage(state, mail);
    }),
    'GET /mail/:id/attachment': withMail((mail, state) => {
      if (mail.attachment === null) return notFound();
      if (!state.downloads.some(({ id }) => id === mail.id)) state.downloads.push({ id: mail.id });
      return sendFile({ ...mail.attachment, type: 'text/plain' });
    }),
    'POST /mail/:id/star': withMail((mail) => {
      mail.starred = !mail.starred;
      return redirect(`/mail/${mail.id}`);
    }),
    'POST /mail/:id/archive': withMail((mail) => {
      mail.folder = 'Archive';
      return redirect('/folder/Inbox');
    }),
    'POST /mail/:id/bin': withMail((mail) => {
      mail.folder = 'Bin';
      return redirect('/folder/Inbox');
    }),
    'POST /mail/:id/unread': withMail((mail) => {
      mail.read = false;
      return redirect('/folder/Inbox');
    }),
    'POST /mail/:id/move': withMail((mail, _state, form) => {
      const folder = form.get('folder') ?? '';
      if (!FOLDERS.includes(folder)) return badRequest('There is no such folder.');
      mail.folder = folder;
      return redirect(`/folder/${folder}`);
    }),
    'GET /compose': compose,
    'POST /send': send,
    'POST /draft': (state, { form }) => {
      state.drafts.push({ id: `d${state.drafts.length + 1}`, ...written(form) });
      return redirect('/drafts');
    },
    'GET /sent': (state) => writtenPage(state, 'Sent', state.sent),
    'GET /drafts': (state) => writtenPage(state, 'Drafts', state.drafts),
    'GET /contacts': (state) =>
      mailPage(state, {
        title: 'Contacts',
        body: markup`<table><thead><tr><th>Name</th><th>Address</th></tr></thead><tbody>${state.contacts.map(
          ({ name, address }) =>
            markup`<tr><td>${name}</td><td><a href="/compose?to=${address}">${address}</a></td></tr>\n`,
        )}</tbody></table>`,
      }),
    'GET /settings': (state, { query }) => settingsPage(state, query.has('saved')),
    'POST /settings': (state, { form }) => {
      const [autoReplyFrom, autoReplyText, signature] = ['autoReplyFrom', 'autoReplyText', 'signature'].map((name) =>
        (form.get(name) ?? '').trim(),
      );
      if (form.has('autoReply') && (autoReplyFrom === '' || autoReplyText === ''))
        return badRequest('An automatic reply needs a first day and a text.');
      state.settings = { autoReply: form.has('autoReply'), autoReplyFrom, autoReplyText, signature };
      return redirect('/settings?saved=1');
    },
  }),
};
