// The way from the start page to the form: what the start page shows of it, and how a hand would go it. Both come from
// one place, so that they cannot differ.

import { inScript, markup, raw, type Html } from '../html.ts';
import type { Blueprint, Form } from './blueprint.ts';

export type Step =
  | { readonly press: 'link' | 'button' | 'tab'; readonly name: string }
  /** To the tab that the last step opened. */
  | { readonly newTab: true };

/** Opened over the page by a button instead of by a link. */
const OVER_PAGE: ReadonlySet<string> = new Set(['modal', 'tabbed-modal']);

export function stepsOf(site: Blueprint): readonly Step[] {
  const { family, words, asked } = site;
  const over = OVER_PAGE.has(family.container);
  const press = (role: 'link' | 'button' | 'tab', name: string): Step => ({ press: role, name });
  const way: Step = press(over ? 'button' : 'link', family.entry === 'button' ? words.account : asked.name);
  return [
    ...(family.wall === 'overlay' ? [press('button', words.cookies.decline)] : []),
    ...(family.wall === 'gate' ? [press('link', words.cookies.accept)] : []),
    ...(family.entry === 'account-menu' ? [press('button', words.account)] : []),
    ...(family.entry === 'nested-menu' ? [press('button', words.menu), press('button', words.account)] : []),
    ...(family.entry === 'mobile-menu' ? [press('button', words.menu)] : []),
    ...(family.entry === 'help' ? [press('link', words.help), press('link', helpTitle(site))] : []),
    way,
    ...(family.container === 'tabbed-modal' ? [press('tab', asked.name)] : []),
    ...(family.container === 'accordion' ? [press('button', asked.name)] : []),
    ...(family.container === 'chooser-sso' ? [press('link', words.withEmail)] : []),
    ...(family.container === 'new-tab' ? [{ newTab: true } as const] : []),
  ];
}

export function helpTitle({ words, asked }: Blueprint): string {
  return `${words.help}: ${asked.name}`;
}

/** What leads to one of the two forms. */
export function wayTo(site: Blueprint, form: Form): Html {
  const { family, host, words } = site;
  if (OVER_PAGE.has(family.container)) {
    const name = family.entry === 'button' ? words.account : form.name;
    return markup`<button type="button" onclick="openPanel(${JSON.stringify(panelOf(site, form))})">${name}</button>`;
  }
  if (family.container === 'app') return markup`<a href="#${form.place.path}">${form.name}</a>`;
  const page = form === site.asked ? site.page : site.otherPage;
  const address = page.host === host ? page.path : `http://${page.host}${page.path}`;
  return markup`<a href="${address}"${family.container === 'new-tab' && raw(' target="_blank"')}>${form.name}</a>`;
}

/** Of a dialog with tabs: it opens with the form that was not asked for. */
function panelOf({ family, other }: Blueprint, form: Form): string {
  return family.container === 'tabbed-modal' ? other.place.path : form.place.path;
}

/** Both ways, in the order in which sites have them. */
function both(site: Blueprint): readonly Html[] {
  const [first, second] = site.asked.action === 'sign-in' ? [site.asked, site.other] : [site.other, site.asked];
  return [wayTo(site, first), wayTo(site, second)];
}

/** At the end of the header. */
export function headerWays(site: Blueprint): Html | undefined {
  const { family, words, lateMs } = site;
  switch (family.entry) {
    case 'links':
      return markup`${both(site)}`;
    case 'button':
      return wayTo(site, site.asked);
    case 'late-links':
      return markup`<span id="late"></span><script>setTimeout(() => { document.getElementById('late').innerHTML = ${inScript(markup`${both(site)}`.text)}; }, ${lateMs});</script>`;
    case 'account-menu':
      return markup`<div>${toggle('menu', words.account)}<div class="panel" id="menu" hidden>${both(site)}</div></div>`;
    case 'nested-menu':
      return markup`<div>${toggle('menu', words.menu)}<div class="panel" id="menu" hidden>
        <a href="/about">${words.pages[0]}</a>${toggle('own', words.account)}<div id="own" hidden>${both(site)}</div></div></div>`;
    case 'mobile-menu':
      return markup`<div><button type="button" aria-label="${words.menu}" aria-expanded="false" onclick="toggle(this, 'menu')">☰</button>
        <div class="panel" id="menu" hidden>${pageLinks(site)}${both(site)}</div></div>`;
    case 'help':
    case 'footer':
      return undefined;
  }
  return family.entry satisfies never;
}

export function footerWays(site: Blueprint): readonly Html[] {
  return site.family.entry === 'footer' ? both(site) : [];
}

export function pageLinks({ words, family }: Blueprint): readonly Html[] {
  const [about, services, stories] = words.pages;
  return [
    markup`<a href="/about">${about}</a>`,
    markup`<a href="/services">${services}</a>`,
    markup`<a href="/stories">${stories}</a>`,
    ...(family.entry === 'help' ? [markup`<a href="/help">${words.help}</a>`] : []),
  ];
}

function toggle(id: string, name: string): Html {
  return markup`<button type="button" aria-expanded="false" onclick="toggle(this, ${JSON.stringify(id)})">${name}</button>`;
}
