// Pages around forms: header, ways, walls, decoys, footer, and the scripts that a page of ours may have. Pure.

import { inScript, markup, raw, type Html, type HtmlValue } from '../html.ts';
import type { Blueprint } from './blueprint.ts';
import { styleOf } from './theme.ts';
import { footerWays, headerWays, pageLinks } from './ways.ts';

export type PageOptions = {
  readonly title: string;
  readonly content: HtmlValue;
  /** Of whoever signs people in for the site. */
  readonly provider?: boolean;
  /** Without header and footer, as in a frame. */
  readonly bare?: boolean;
};

export function pageMarkup(site: Blueprint, { title, content, provider = false, bare = false }: PageOptions): Html {
  const { words, family } = site;
  const owner = provider ? site.provider : site.brand;
  const theme = provider ? site.providerTheme : site.theme;
  const walled = family.wall === 'overlay' && !provider && !bare;
  return markup`<!doctype html>
<html lang="${words.lang}" dir="${words.direction}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} - ${owner}</title><style>${styleOf(theme)}</style>
<script>${SCRIPT}</script></head>
<body>${bare ? markup`<main>${content}</main>` : markup`${header(site, provider)}<main>${content}${!provider && aside(site)}</main>${!provider && footer(site)}`}
${walled && overlay(site)}</body>
</html>`;
}

function header(site: Blueprint, provider: boolean): Html {
  if (provider) return markup`<header><a class="brand" href="/">${site.provider}</a></header>`;
  const { words, family, search, brand } = site;
  return markup`<header><a class="brand" href="/">${brand}</a>
    ${family.entry !== 'mobile-menu' && markup`<nav>${pageLinks(site)}</nav>`}
    ${search && markup`<form action="/search" role="search"><input type="search" name="q" aria-label="${words.search}" placeholder="${words.search}"></form>`}
    ${headerWays(site)}</header>`;
}

function footer(site: Blueprint): Html {
  const { words, family } = site;
  return markup`<footer>${family.entry === 'footer' && footerWays(site)}<a href="/contact">${words.contact.title}</a><span>${site.brand}</span></footer>`;
}

/** A form that is none of the two. */
function aside({ newsletter, words }: Blueprint): Html | undefined {
  if (!newsletter) return undefined;
  const { title, email, button } = words.newsletter;
  return markup`<form class="card" method="post" action="/letter"><h2>${title}</h2>
    <div class="row"><label for="letter">${email}</label><input type="email" id="letter" name="letter"></div><button>${button}</button></form>`;
}

function overlay({ words }: Blueprint): Html {
  const { text, accept, decline } = words.cookies;
  return markup`<div class="veil" id="veil" role="dialog" aria-label="Cookies"><div class="card"><p>${text}</p>
    <button type="button" onclick="unveil()">${accept}</button> <button type="button" onclick="unveil()">${decline}</button></div></div>
    <script>if (sessionStorage.getItem('unveiled')) document.getElementById('veil').remove();</script>`;
}

/** Fetches a part of the site into an element, after so many milliseconds. */
export function fetchInto(path: string, target: string, afterMs = 0): Html {
  return markup`<script>setTimeout(() => part(${inScript(path)}, ${raw(target)}), ${afterMs});</script>`;
}

/** What pages do by themselves; the same on every site. */
const SCRIPT = raw(`
function toggle(button, id) {
  const panel = document.getElementById(id);
  panel.hidden = !panel.hidden;
  button.setAttribute('aria-expanded', String(!panel.hidden));
}
async function part(path, target) {
  const reply = await fetch(path);
  target.innerHTML = await reply.text();
}
async function openPanel(path) {
  let dialog = document.querySelector('dialog');
  if (!dialog) document.body.append(dialog = document.createElement('dialog'));
  await part(path, dialog);
  if (!dialog.open) dialog.showModal();
}
function unveil() {
  sessionStorage.setItem('unveiled', '1');
  document.getElementById('veil').remove();
}
`);
