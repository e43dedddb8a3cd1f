// A form as markup: each field in the way its label is given, what no person sees, the button. Pure.

import { markup, type Html } from '../html.ts';
import type { Blueprint, Form } from './blueprint.ts';
import type { Field } from './fields.ts';

/** `twin` tells apart the ids of two forms on one page. */
export function formMarkup(site: Blueprint, form: Form, twin = ''): Html {
  const { words, family, trap } = site;
  const away = form.action === site.asked.action ? site.otherPage : site.page;
  const other = form.action === site.asked.action ? site.other : site.asked;
  const part = PARTS.has(family.container);
  const birth = form.fields.filter(({ legend }) => legend !== undefined);
  return markup`<form class="card" method="post" action="${form.sentTo}" autocomplete="off">
    <h2>${form.name}</h2>
    ${family.shape === 'steps' && markup`<p>1 / 3</p>`}
    ${form.action === 'sign-up' && markup`<p>${words.filler[0]}</p>`}
    <input type="hidden" name="token" value="${tokenOf(site)}">
    ${form.fields.map((field, index) => {
      const id = `${twin}f${index}`;
      if (field.legend === undefined) return fieldMarkup(site, field, id);
      if (field !== birth[0]) return undefined;
      return markup`<fieldset><legend>${field.legend}</legend>${birth.map((one, part) => fieldMarkup(site, one, `${id}${part}`))}</fieldset>`;
    })}
    ${trap === 'off-screen' && markup`<div class="far" aria-hidden="true"><label>Website <input name="website" tabindex="-1"></label></div>`}
    ${trap === 'not-shown' && markup`<div hidden><label>Fax <input name="fax"></label></div>`}
    <p><button>${family.shape === 'steps' ? words.next : form.name}</button></p>
    ${form.action === 'sign-in' && markup`<p><a href="http://${site.host}/forgotten">${words.forgotten}</a></p>`}
    ${!part && markup`<p><a href="http://${away.host}${away.path}">${other.name}</a></p>`}
  </form>`;
}

/** Forms in these stand alone: a way to the other one would be no link. */
const PARTS: ReadonlySet<string> = new Set([
  ...['twin', 'accordion', 'modal', 'tabbed-modal', 'frame', 'foreign-frame'],
  ...['late', 'shadow', 'closed-shadow', 'app'],
]);

function fieldMarkup(site: Blueprint, field: Field, id: string): Html {
  const { control, label, style, secondName, note, required, example, options = [] } = field;
  const name = inputName(site, field, id);
  const shown = markup`${label}${note !== undefined && ` (${note})`}${required && style !== 'placeholder' && ' *'}`;
  if (control === 'radio') {
    return markup`<fieldset><legend>${shown}</legend>${options.map(
      (option, index) =>
        markup`<div class="tick"><input type="radio" id="${id}-${index}" name="${name}" value="${index}"> <label for="${id}-${index}">${option}</label></div>`,
    )}</fieldset>`;
  }
  if (control === 'checkbox') {
    return markup`<div class="row"><label class="tick"><input type="checkbox" id="${id}" name="${name}"> <span>${shown}</span></label></div>`;
  }
  const attributes = markup`id="${id}" name="${name}"${style === 'reference' && markup` aria-labelledby="${id}-label"`}${secondName !== undefined && markup` aria-label="${secondName}"`}${style === 'placeholder' && control === 'select' && markup` aria-label="${label}"`}`;
  const hint = style === 'placeholder' ? label : example;
  const input =
    control === 'select'
      ? markup`<select ${attributes}><option value=""></option>${options.map((option) => markup`<option>${option}</option>`)}</select>`
      : markup`<input type="${control}" ${attributes}${hint !== undefined && control !== 'date' && markup` placeholder="${hint}"`}>`;
  switch (style) {
    case 'placeholder':
      // What shows no placeholder has a label to be seen.
      return control === 'date' || control === 'select'
        ? markup`<div class="row"><label for="${id}">${shown}</label>${input}</div>`
        : markup`<div class="row">${input}</div>`;
    case 'around':
      return markup`<div class="row"><label>${shown} ${input}</label></div>`;
    case 'after':
      return markup`<div class="row">${input}<label for="${id}">${shown}</label></div>`;
    case 'reference':
      return markup`<div class="row"><span id="${id}-label">${shown}</span>${input}</div>`;
    case 'above':
    case 'both':
      return markup`<div class="row"><label for="${id}">${shown}</label>${input}</div>`;
  }
  return style satisfies never;
}

function inputName({ fieldNames, asked }: Blueprint, { kind, part, control }: Field, id: string): string {
  const own = part === 0 && control !== 'select' ? kind : `${kind}${part}`;
  if (fieldNames === 'plain') return own;
  return fieldNames === 'bracket' ? `${asked.action === 'sign-in' ? 'user' : 'person'}[${own}]` : `ctl_${id}`;
}

/** As sites have them against forged requests; nobody reads it here. */
function tokenOf({ host, seed }: Blueprint): string {
  return Buffer.from(`${host}/${seed}`).toString('hex').slice(0, 24);
}
