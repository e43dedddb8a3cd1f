// The frame that the sites' pages share: head, navigation, one stylesheet with a colour and a shape of each site's own.

import { markup, raw, type Html } from '../html.ts';

export type Look = {
  readonly site: string;
  readonly accent: string;
  /** Where the navigation is. */
  readonly side?: boolean;
  readonly links: readonly (readonly [path: string, label: string])[];
};

export type PageParts = {
  readonly title: string;
  readonly body: Html;
  /** Runs after the page is read. Written in this repository. */
  readonly script?: string;
  /** At the right of the header: who is signed in, how much is in the basket. */
  readonly corner?: Html;
};

export function layout(look: Look, { title, body, script, corner }: PageParts): Html {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – ${look.site}</title>
<link rel="icon" href="data:,">
<style>${raw(styleOf(look))}</style>
</head>
<body>
<header><a class="brand" href="/">${look.site}</a>${look.side !== true && navigation(look)}<div class="corner">${corner}</div></header>
<div class="frame">${look.side === true && navigation(look)}
<main>
<h1>${title}</h1>
${body}
</main></div>
<footer><p>© ${look.site}</p></footer>
${script !== undefined && markup`<script>${raw(script)}</script>`}
</body>
</html>
`;
}

function navigation({ links }: Look): Html {
  return markup`<nav aria-label="Main"><ul>${links.map(([path, label]) => markup`<li><a href="${path}">${label}</a></li>`)}</ul></nav>`;
}

function styleOf({ accent, side }: Look): string {
  return `:root{--accent:${accent}}*{box-sizing:border-box}body{margin:0;font:15px/1.45 system-ui,sans-serif;color:#222;background:#fafafa}
header{display:flex;gap:24px;align-items:center;padding:10px 20px;background:var(--accent);color:#fff}header a{color:#fff;text-decoration:none}
.brand{font-weight:700;font-size:18px}.corner{margin-left:auto}nav ul{list-style:none;display:flex;gap:16px;margin:0;padding:0;flex-wrap:wrap}
.frame{max-width:1080px;margin:0 auto;padding:16px 20px;display:${side === true ? 'grid;grid-template-columns:180px 1fr;gap:24px' : 'block'}}
.frame>nav ul{flex-direction:column;gap:8px}footer{color:#777;text-align:center;font-size:13px}
table{border-collapse:collapse;background:#fff}th,td{border:1px solid #ddd;padding:4px 10px;text-align:left}
form p{margin:8px 0}label{display:inline-block;min-width:120px}label.tick{min-width:0}input,select,textarea,button{font:inherit;padding:4px 8px}
button{background:var(--accent);color:#fff;border:0;border-radius:4px;cursor:pointer}fieldset{border:1px solid #ccc;margin:10px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:12px;list-style:none;padding:0}
.cards li{background:#fff;border:1px solid #ddd;border-radius:6px;padding:10px}.error{color:#a00}.ok{color:#060}.muted{color:#666}
.pages{display:flex;gap:10px;list-style:none;padding:0}.inline{display:inline}`;
}

/** Links to the pages of a list; the present one is no link. */
export function pageLinks(page: number, pages: number, pathOf: (page: number) => string): Html {
  const numbers = Array.from({ length: pages }, (_, i) => i + 1);
  return markup`<nav aria-label="Pages"><ul class="pages">
${page > 1 && markup`<li><a href="${pathOf(page - 1)}">Previous</a></li>`}
${numbers.map((n) => (n === page ? markup`<li><span aria-current="page">${n}</span></li>` : markup`<li><a href="${pathOf(n)}">${n}</a></li>`))}
${page < pages && markup`<li><a href="${pathOf(page + 1)}">Next</a></li>`}
</ul></nav>`;
}

/** A number of a page that a reader asked for, or the first. */
export function pageNumber(text: string | null, pages: number): number {
  const page = Number(text ?? 1);
  return Number.isInteger(page) && page >= 1 && page <= pages ? page : 1;
}

export function options(values: readonly string[], chosen?: string): readonly Html[] {
  return values.map((value) =>
    value === chosen ? markup`<option selected>${value}</option>` : markup`<option>${value}</option>`,
  );
}

/** A button that sends nothing but itself. */
export function postButton(path: string, label: string, name?: string): Html {
  return markup`<form class="inline" method="post" action="${path}"><button${name !== undefined && markup` aria-label="${name}"`}>${label}</button></form>`;
}
