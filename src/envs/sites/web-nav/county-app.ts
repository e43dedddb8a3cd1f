// The county's pages: a wide table, a table that sorts by script, pages of rows, tabs that fetch their panels, sections
// that unfold, a dialog, and a table in a frame.

import { markup, type Html } from '../html.ts';
import { htmlReply, notFound, type SiteReply } from '../site.ts';
import { routes, type App } from '../kit/app.ts';
import { layout, options, pageLinks, pageNumber, type PageParts } from '../kit/layout.ts';
import { DAYS, SCHOOL_TYPES, YEARS, type CountyState } from './county-world.ts';

const ROWS = 12;
const LOOK = {
  site: 'Harrow County Data',
  accent: '#1d4f73',
  side: true,
  links: [
    ['/population', 'Population'],
    ['/indicators', 'Indicators'],
    ['/schools', 'Schools'],
    ['/libraries', 'Libraries'],
    ['/stations', 'Stations'],
    ['/records', 'Records'],
  ],
} as const;

function send(parts: PageParts): SiteReply {
  return htmlReply(layout(LOOK, parts));
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): Html {
  return markup`<table>
<thead><tr>${head.map((name) => markup`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows.map((row) => markup`<tr>${row.map((cell) => markup`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table>`;
}

/** Headers become buttons; a press sorts by that column, another turns it round. */
const SORTABLE = `
for (const [column, header] of [...document.querySelectorAll('thead th')].entries()) {
  const button = document.createElement('button');
  button.textContent = header.textContent;
  header.replaceChildren(button);
  button.addEventListener('click', () => {
    const up = header.getAttribute('aria-sort') !== 'ascending';
    for (const other of document.querySelectorAll('thead th')) other.removeAttribute('aria-sort');
    header.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const body = document.querySelector('tbody');
    const of = (row) => row.cells[column].textContent;
    const less = (a, b) => (isNaN(of(a)) ? of(a).localeCompare(of(b)) : of(a) - of(b));
    body.append(...[...body.rows].sort((a, b) => (up ? less(a, b) : less(b, a))));
  });
}`;

const TABS = `
const panel = document.querySelector('[role=tabpanel]');
for (const tab of document.querySelectorAll('[role=tab]')) tab.addEventListener('click', async () => {
  for (const other of document.querySelectorAll('[role=tab]')) other.setAttribute('aria-selected', String(other === tab));
  panel.textContent = 'Loading…';
  const answer = await fetch(tab.dataset.panel);
  panel.innerHTML = await answer.text();
});`;

const DIALOG = `
const dialog = document.querySelector('dialog');
for (const button of document.querySelectorAll('button[value]')) button.addEventListener('click', async () => {
  const answer = await fetch('/records/' + button.value);
  dialog.querySelector('div').innerHTML = await answer.text();
  dialog.showModal();
});
dialog.querySelector('#close').addEventListener('click', () => dialog.close());`;

export const countyApp: App<CountyState> = {
  host: 'www.harrow-county.test',
  respond: routes<CountyState>({
    'GET /': () =>
      send({
        title: 'Figures about the county',
        body: markup`<p>Choose a subject. Figures are revised every spring.</p>`,
      }),
    'GET /population': ({ districts }) =>
      send({
        title: 'Population by district',
        body: table(
          ['District', ...YEARS.map(String)],
          districts.map(({ name, population }) => [name, ...population]),
        ),
      }),
    'GET /indicators': ({ districts }) =>
      send({
        title: 'Indicators',
        body: markup`<p>Press a column's name to sort.</p>${table(
          ['District', 'Area in km²', 'Parks', 'Rainfall in mm'],
          districts.map(({ name, areaKm2, parks, rainfallMm }) => [name, areaKm2, parks, rainfallMm]),
        )}`,
        script: SORTABLE,
      }),
    'GET /schools': ({ schools, districts }, { query }) => {
      const [district, type] = [query.get('district') ?? 'All', query.get('type') ?? 'All'];
      const found = schools.filter(
        (one) => (district === 'All' || one.district === district) && (type === 'All' || one.type === type),
      );
      const pages = Math.max(1, Math.ceil(found.length / ROWS));
      const page = pageNumber(query.get('page'), pages);
      const rows = found.slice((page - 1) * ROWS, page * ROWS);
      const at = (number: number): string =>
        `/schools?${new URLSearchParams({ district, type, page: String(number) }).toString()}`;
      const names = [...new Set(schools.map((one) => one.district))].sort();
      return send({
        title: 'Schools',
        body: markup`<form action="/schools">
<p><label for="district">District</label> <select id="district" name="district">${options(['All', ...names.filter((name) => districts.some((one) => one.name === name))], district)}</select>
<label for="type">Type</label> <select id="type" name="type">${options(['All', ...SCHOOL_TYPES], type)}</select> <button>Show</button></p>
</form>
<p role="status">Page ${page} of ${pages}</p>
${table(
  ['School', 'District', 'Type', 'Pupils'],
  rows.map((one) => [one.name, one.district, one.type, one.pupils]),
)}
${pages > 1 && pageLinks(page, pages, at)}`,
      });
    },
    'GET /libraries': ({ libraries }) =>
      send({
        title: 'Libraries',
        body: markup`${libraries.map(
          ({ id, name, closes }) => markup`<section aria-label="${name}">
<h2><a href="/library/${id}">${name}</a></h2>
<details><summary>Opening hours</summary><ul>${DAYS.map((day, i) => markup`<li>${day}: 09:30 to ${closes[i]}</li>`)}</ul></details>
</section>`,
        )}`,
      }),
    'GET /library/:id': ({ libraries }, { at }) => {
      const library = libraries.find(({ id }) => id === at.id);
      if (library === undefined) return notFound();
      const tabs = ['About', 'Contact', 'Events'];
      return send({
        title: library.name,
        body: markup`<div role="tablist" aria-label="About the library">
${tabs.map((tab, i) => markup`<button role="tab" aria-selected="${i === 0 ? 'true' : 'false'}" data-panel="/library/${library.id}/${tab.toLowerCase()}">${tab}</button>`)}
</div>
<div role="tabpanel"><p>A branch of the county's library service.</p></div>`,
        script: TABS,
      });
    },
    'GET /library/:id/:panel': ({ libraries }, { at }) => {
      const library = libraries.find(({ id }) => id === at.id);
      if (library === undefined) return notFound();
      const panels: Readonly<Record<string, Html>> = {
        about: markup`<p>A branch of the county's library service.</p>`,
        contact: markup`<p>Manager: <span id="manager">${library.manager}</span></p><p>Telephone: <span id="phone">${library.phone}</span></p>`,
        events: markup`<p>Story time is on every second Saturday.</p>`,
      };
      return at.panel in panels ? htmlReply(panels[at.panel]) : notFound();
    },
    'GET /stations': () =>
      send({
        title: 'Stations',
        body: markup`<p>Departures from Central today.</p><iframe src="/departures" title="Departures" width="640" height="420"></iframe>`,
      }),
    'GET /departures': ({ departures }) =>
      htmlReply(markup`<!doctype html>
<html lang="en"><head><title>Departures</title></head><body>
${table(
  ['Time', 'To', 'Platform', 'Note'],
  departures.map((one) => [one.time, one.to, one.platform, one.note]),
)}
</body></html>
`),
    'GET /records': ({ records }) =>
      send({
        title: 'Records',
        body: markup`<ul>${records.map(({ id, title }) => markup`<li>${title} <button value="${id}" aria-label="Show ${title}">Show</button></li>`)}</ul>
<dialog aria-label="Record"><div></div><button id="close">Close</button></dialog>`,
        script: DIALOG,
      }),
    'GET /records/:id': ({ records }, { at }) => {
      const record = records.find(({ id }) => id === at.id);
      if (record === undefined) return notFound();
      return htmlReply(
        markup`<h2>${record.title}</h2><p>Reference: <span id="reference">${record.reference}</span></p>`,
      );
    },
  }),
};
