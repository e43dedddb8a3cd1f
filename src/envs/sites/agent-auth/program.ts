// What a site answers: its start page, pages that say nothing, the page or part with the form, and thanks for whatever is
// sent, which is never what was asked for.

import { inScript, markup, raw, type Html } from '../html.ts';
import { htmlReply, notFound, redirect, type Site, type SiteReply, type SiteRequest } from '../site.ts';
import type { Blueprint, Form, Place } from './blueprint.ts';
import { formMarkup } from './form.ts';
import { fetchInto, pageMarkup } from './page.ts';
import { styleOf } from './theme.ts';
import { helpTitle, wayTo } from './ways.ts';

export function siteOf(site: Blueprint): Site {
  return {
    hosts: site.hosts,
    startUrl: `http://${site.host}/`,
    open() {
      let admitted = site.family.wall !== 'gate';
      return (request) => {
        if (admitted) return answer(site, request);
        if (request.path === '/welcome') return htmlReply(gate(site));
        admitted = request.path === '/consent';
        return redirect(admitted ? '/' : '/welcome');
      };
    },
  };
}

function answer(site: Blueprint, request: SiteRequest): SiteReply {
  if (request.method !== 'GET') return htmlReply(plainPage(site, site.words.welcome, [site.words.filler[0]]));
  for (const form of [site.asked, site.other]) {
    if (isAt(request, form.place)) return htmlReply(formPage(site, form));
    if (isAt(request, form === site.asked ? site.page : site.otherPage)) return htmlReply(containerPage(site, form));
  }
  const content = contentPage(site, request);
  return content === undefined ? notFound() : htmlReply(content);
}

function isAt({ host, path }: SiteRequest, place: Place): boolean {
  return host === place.host && path === place.path;
}

function contentPage(site: Blueprint, { host, path, query }: SiteRequest): Html | undefined {
  const { words } = site;
  const [about, services, stories] = words.pages;
  if (host !== site.host)
    return path === '/' ? pageMarkup(site, { title: words.welcome, content: '', provider: true }) : undefined;
  switch (path) {
    case '/':
      return startPage(site);
    case '/about':
      return plainPage(site, about, words.filler);
    case '/services':
      return plainPage(site, services, words.filler.slice(1));
    case '/stories':
      return plainPage(site, stories, [...words.filler].reverse());
    case '/search':
      return plainPage(site, words.search, [`${query.get('q') ?? ''}: 0`]);
    case '/forgotten':
      return plainPage(site, words.forgotten, [words.filler[0]]);
    case '/contact':
      return pageMarkup(site, { title: words.contact.title, content: contactForm(site) });
    case '/help':
      return helpPage(site);
    case '/help/entry':
      return pageMarkup(site, {
        title: helpTitle(site),
        content: markup`<h1>${helpTitle(site)}</h1><p>${words.filler[0]}</p><p>${wayTo(site, site.asked)}</p>`,
      });
    default:
      return undefined;
  }
}

function startPage(site: Blueprint): Html {
  const { words, brand, family } = site;
  const app = family.container === 'app';
  const content = markup`<section id="view"><h1>${words.welcome} ${brand}</h1>${words.filler.map((text) => markup`<p>${text}</p>`)}</section>`;
  return pageMarkup(site, { title: words.welcome, content: app ? markup`${content}${appScript(site)}` : content });
}

function plainPage(site: Blueprint, title: string, texts: readonly string[]): Html {
  return pageMarkup(site, { title, content: markup`<h1>${title}</h1>${texts.map((text) => markup`<p>${text}</p>`)}` });
}

function helpPage(site: Blueprint): Html {
  const { words } = site;
  return pageMarkup(site, {
    title: words.help,
    content: markup`<h1>${words.help}</h1><ul><li><a href="/services">${words.help}: ${words.pages[1]}</a></li>
      ${site.family.entry === 'help' && markup`<li><a href="/help/entry">${helpTitle(site)}</a></li>`}
      <li><a href="/stories">${words.help}: ${words.pages[2]}</a></li></ul>`,
  });
}

function contactForm({ words }: Blueprint): Html {
  const { title, message, send } = words.contact;
  return markup`<form class="card" method="post" action="/contact"><h1>${title}</h1>
    <div class="row"><label for="c1">${words.fields.fullName[0]}</label><input id="c1" name="name"></div>
    <div class="row"><label for="c2">${words.fields.email[0]}</label><input type="email" id="c2" name="mail"></div>
    <div class="row"><label for="c3">${message}</label><textarea id="c3" name="text"></textarea></div><button>${send}</button></form>`;
}

/** The place of the form itself: a page, or a part that a page fetches. */
function formPage(site: Blueprint, form: Form): Html {
  const { container } = site.family;
  const content = formMarkup(site, form);
  switch (container) {
    case 'page':
    case 'new-tab':
      return pageMarkup(site, { title: form.name, content });
    case 'sso':
    case 'chooser-sso':
      return pageMarkup(site, { title: form.name, content, provider: true });
    case 'twin':
    case 'accordion':
      return containerPage(site, form);
    case 'frame':
    case 'foreign-frame':
      return pageMarkup(site, { title: form.name, content, bare: true });
    case 'tabbed-modal':
      return markup`${tabs(site, form)}${content}`;
    case 'modal':
      return markup`<button type="button" onclick="this.closest('dialog').close()">${site.words.close}</button>${content}`;
    case 'shadow':
    case 'closed-shadow':
      return markup`<style>${styleOf(site.theme)}</style>${content}`;
    case 'late':
    case 'app':
      return content;
  }
  return container satisfies never;
}

/** The page that links lead to, where the form is not that page by itself. */
function containerPage(site: Blueprint, form: Form): Html {
  const { family, words, lateMs } = site;
  const { host, path } = form.place;
  const title = form.name;
  const page = (content: Html, provider = false): Html => pageMarkup(site, { title, content, provider });
  switch (family.container) {
    case 'frame':
    case 'foreign-frame':
      return page(markup`<iframe src="http://${host}${path}" title="${site.brand}"></iframe>`);
    case 'late':
      return page(
        markup`<div id="slot"><p>${words.loading}</p></div>${fetchInto(path, "document.getElementById('slot')", lateMs)}`,
      );
    case 'shadow':
    case 'closed-shadow':
      return page(shadowPanel(path, family.container === 'shadow' ? 'open' : 'closed'));
    case 'twin':
      return page(
        markup`<div class="twins">${inOrder(site).map((one, index) => formMarkup(site, one, `t${index}`))}</div>`,
      );
    case 'accordion':
      return page(
        markup`<h1>${words.account}</h1>${inOrder(site).map(
          (
            one,
            index,
          ) => markup`<h2><button type="button" aria-expanded="false" onclick="toggle(this, 'part${index}')">${one.name}</button></h2>
            <div id="part${index}" hidden>${formMarkup(site, one, `t${index}`)}</div>`,
        )}`,
      );
    case 'chooser-sso':
      return page(
        markup`<div class="card"><h1>${title}</h1><p><button type="button">Norvik ID</button></p><p><button type="button">Palanda</button></p>
          <p><a class="button" href="${path}">${words.withEmail}</a></p></div>`,
        true,
      );
    default:
      return formPage(site, form);
  }
}

function inOrder({ asked, other }: Blueprint): readonly Form[] {
  return asked.action === 'sign-in' ? [other, asked] : [asked, other];
}

function tabs(site: Blueprint, open: Form): Html {
  return markup`<div role="tablist">${[site.other, site.asked].map(
    (form) =>
      markup`<button type="button" role="tab" aria-selected="${form === open ? 'true' : 'false'}" onclick="openPanel(${JSON.stringify(form.place.path)})">${form.name}</button>`,
  )}</div>`;
}

function shadowPanel(path: string, mode: 'open' | 'closed'): Html {
  return markup`<entry-panel></entry-panel><script>customElements.define('entry-panel', class extends HTMLElement {
    connectedCallback() { part(${inScript(path)}, this.attachShadow({ mode: ${inScript(mode)} })); }
  });</script>`;
}

function appScript({ asked, other }: Blueprint): Html {
  return markup`<script>${raw(`
addEventListener('hashchange', () => {
  const path = location.hash.slice(1);
  if (`)}${inScript([asked.place.path, other.place.path])}${raw(`.includes(path)) part(path, document.getElementById('view'));
});`)}</script>`;
}

function gate(site: Blueprint): Html {
  const { words, brand } = site;
  return pageMarkup(site, {
    title: brand,
    bare: true,
    content: markup`<div class="card"><h1>${brand}</h1><p>${words.cookies.text}</p>
      <p><a class="button" href="/consent?all=1">${words.cookies.accept}</a> <a href="/consent?all=0">${words.cookies.decline}</a></p></div>`,
  });
}
