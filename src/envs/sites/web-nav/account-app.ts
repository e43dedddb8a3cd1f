// Pages of an account: choices, switches, radio buttons, and three kinds of dialogs (one that asks yes or no, one that asks
// for words, one of the page's own that wants a name typed).

import { markup, raw, type Html } from '../html.ts';
import { htmlReply, notFound, redirect, type SiteReply } from '../site.ts';
import { badRequest, routes, type App } from '../kit/app.ts';
import { layout, options, type PageParts } from '../kit/layout.ts';
import { AUDIENCES, LANGUAGES, NOTICES, ZONES, type AccountState } from './account-world.ts';

const LOOK = {
  site: 'Fennel',
  accent: '#2e6b4f',
  side: true,
  links: [
    ['/', 'Overview'],
    ['/profile', 'Profile'],
    ['/notifications', 'Notifications'],
    ['/privacy', 'Privacy'],
    ['/devices', 'Devices'],
    ['/keys', 'Access keys'],
  ],
} as const;

function send({ profile }: AccountState, parts: PageParts): SiteReply {
  return htmlReply(layout(LOOK, { corner: markup`${profile.name}`, ...parts }));
}

const saved = (query: URLSearchParams): Html | false =>
  query.has('saved') && markup`<p role="status" class="ok">Saved.</p>`;

const DEVICES_SCRIPT = `
for (const form of document.querySelectorAll('form.end')) form.addEventListener('submit', (event) => {
  if (!confirm('Sign out of ' + form.dataset.device + '?')) event.preventDefault();
});
for (const form of document.querySelectorAll('form.rename')) form.addEventListener('submit', (event) => {
  const name = prompt('New name of the device', form.dataset.device);
  if (name === null || name.trim() === '') event.preventDefault();
  else form.elements.name.value = name;
});`;

const KEYS_SCRIPT = `
const dialog = document.querySelector('dialog'), form = dialog.querySelector('form');
for (const button of document.querySelectorAll('button[value]')) button.addEventListener('click', () => {
  form.action = '/keys/' + button.value + '/delete';
  form.reset();
  dialog.querySelector('b').textContent = button.dataset.name;
  dialog.showModal();
});
dialog.querySelector('#keep').addEventListener('click', () => dialog.close());`;

export const accountApp: App<AccountState> = {
  host: 'my.fennel-account.test',
  respond: routes<AccountState>({
    'GET /': (state) =>
      send(state, { title: 'Your account', body: markup`<p>Everything about your account is at the left.</p>` }),
    'GET /profile': (state, { query }) =>
      send(state, {
        title: 'Profile',
        body: markup`${saved(query)}<form method="post" action="/profile">
<p><label for="name">Display name</label> <input id="name" name="name" value="${state.profile.name}" required></p>
<p><label for="language">Language</label> <select id="language" name="language">${options(LANGUAGES, state.profile.language)}</select></p>
<p><label for="zone">Time zone</label> <select id="zone" name="zone">${options(ZONES, state.profile.zone)}</select></p>
<button>Save</button></form>`,
      }),
    'POST /profile': (state, { form }) => {
      const [name, language, zone] = ['name', 'language', 'zone'].map((field) => form.get(field) ?? '');
      if (name.trim() === '' || !LANGUAGES.includes(language) || !ZONES.includes(zone))
        return badRequest('Go back and fill in every field.');
      state.profile = { name: name.trim(), language, zone };
      return redirect('/profile?saved=1');
    },
    'GET /notifications': (state, { query }) =>
      send(state, {
        title: 'Notifications',
        body: markup`${saved(query)}<form method="post" action="/notifications"><fieldset><legend>Write me a mail about</legend>
${Object.entries(NOTICES).map(([name, label]) => markup`<p><label class="tick"><input type="checkbox" name="${name}"${state.notices[name] && raw(' checked')}> ${label}</label></p>`)}
</fieldset><button>Save</button></form>`,
      }),
    'POST /notifications': (state, { form }) => {
      for (const name of Object.keys(NOTICES)) state.notices[name] = form.has(name);
      return redirect('/notifications?saved=1');
    },
    'GET /privacy': (state, { query }) =>
      send(state, {
        title: 'Privacy',
        body: markup`${saved(query)}<form method="post" action="/privacy"><fieldset><legend>Who can see your profile?</legend>
${Object.entries(AUDIENCES).map(([name, label]) => markup`<p><label class="tick"><input type="radio" name="audience" value="${name}"${state.audience === name && raw(' checked')}> ${label}</label></p>`)}
</fieldset><button>Save</button></form>`,
      }),
    'POST /privacy': (state, { form }) => {
      const audience = form.get('audience') ?? '';
      if (!Object.hasOwn(AUDIENCES, audience)) return badRequest('Choose who can see your profile.');
      state.audience = audience;
      return redirect('/privacy?saved=1');
    },
    'GET /devices': (state) =>
      send(state, {
        title: 'Devices',
        body: markup`<table><thead><tr><th>Device</th><th>Last seen in</th><th>Actions</th></tr></thead><tbody>
${state.devices.map(
  ({ id, name, place }) => markup`<tr><td>${name}</td><td>${place}</td><td>
<form class="inline rename" method="post" action="/devices/${id}/name" data-device="${name}"><input type="hidden" name="name"><button aria-label="Rename ${name}">Rename</button></form>
<form class="inline end" method="post" action="/devices/${id}/end" data-device="${name}"><button aria-label="Sign out of ${name}">Sign out</button></form></td></tr>`,
)}</tbody></table>`,
        script: DEVICES_SCRIPT,
      }),
    'POST /devices/:id/name': (state, { at, form }) => {
      const device = state.devices.find(({ id }) => id === at.id);
      const name = (form.get('name') ?? '').trim();
      if (device === undefined) return notFound();
      if (name === '') return badRequest('A device needs a name.');
      device.name = name;
      return redirect('/devices');
    },
    'POST /devices/:id/end': (state, { at }) => {
      state.devices = state.devices.filter(({ id }) => id !== at.id);
      return redirect('/devices');
    },
    'GET /keys': (state) =>
      send(state, {
        title: 'Access keys',
        body: markup`<ul>${state.keys.map(({ id, name, hint }) => markup`<li>${name} (ends in ${hint}) <button value="${id}" data-name="${name}" aria-label="Delete ${name}">Delete</button></li>`)}</ul>
<dialog aria-label="Delete a key"><form method="post"><p>Programs that use <b></b> stop working. Type its name to delete it.</p>
<p><label for="typed">Name</label> <input id="typed" name="typed" autocomplete="off"></p>
<button>Delete for good</button> <button type="button" id="keep">Keep it</button></form></dialog>`,
        script: KEYS_SCRIPT,
      }),
    'POST /keys/:id/delete': (state, { at, form }) => {
      const key = state.keys.find(({ id }) => id === at.id);
      if (key === undefined) return notFound();
      if (form.get('typed') !== key.name) return badRequest('The name that was typed is not that of the key.');
      state.keys = state.keys.filter((one) => one !== key);
      return redirect('/keys');
    },
  }),
};
