// Forms that are more than fields: steps with questions that depend on answers, rows that are added, lists that depend on
// lists, a look-up of addresses, a file, a form in a dialog.

import type { JsonObject } from '../../../core/index.ts';
import { markup, type Html } from '../html.ts';
import { jsonReply, redirect } from '../site.ts';
import { badRequest, type Handler } from '../kit/app.ts';
import { options } from '../kit/layout.ts';
import { handIn, COUNTRIES, type OfficeState } from './world.ts';

export type OfficePage = (
  state: OfficeState,
  title: string,
  body: Html,
  script?: string,
) => ReturnType<Handler<OfficeState>>;

const KINDS = ['Dog', 'Cat', 'Horse'];
export const ROW_KINDS = ['Train', 'Hotel', 'Meal', 'Material'];
const thanks = (id: string): string => `/thanks/${id}`;

function branchesOf({ branches }: OfficeState, country: string): readonly string[] {
  return Object.hasOwn(branches, country) ? branches[country] : [];
}

/** All three steps are one form: script shows one at a time, and the questions that fit the answer. */
const STEPS = `
const steps = [...document.querySelectorAll('[data-step]')];
const show = (index) => steps.forEach((step, i) => { step.hidden = i !== index; });
show(0);
for (const button of document.querySelectorAll('[data-to]')) button.addEventListener('click', () => {
  const here = steps.findIndex((step) => !step.hidden), to = Number(button.dataset.to);
  const bad = to > here && [...steps[here].querySelectorAll('input, select')].find((field) => field.offsetParent !== null && !field.checkValidity());
  if (bad) bad.reportValidity();
  else show(to);
});
const kind = document.querySelector('#kind');
const fit = () => { for (const part of document.querySelectorAll('[data-kind]')) part.hidden = part.dataset.kind !== kind.value; };
kind.addEventListener('change', fit);
fit();`;

const ROWS = `
const body = document.querySelector('tbody'), template = document.querySelector('template');
const number = () => [...body.rows].forEach((row, i) => {
  for (const field of row.querySelectorAll('[data-field]')) {
    field.name = field.dataset.field + i;
    field.setAttribute('aria-label', field.dataset.label + ' ' + (i + 1));
  }
  row.querySelector('button').setAttribute('aria-label', 'Remove line ' + (i + 1));
});
const add = () => { body.append(template.content.cloneNode(true)); number(); };
document.querySelector('#add').addEventListener('click', add);
body.addEventListener('click', (event) => { if (event.target.matches('button')) { event.target.closest('tr').remove(); number(); } });
add();`;

const BRANCHES = `
const country = document.querySelector('#country'), branch = document.querySelector('#branch');
country.addEventListener('change', async () => {
  branch.disabled = true;
  const answer = await fetch('/branches?country=' + encodeURIComponent(country.value));
  const names = await answer.json();
  branch.replaceChildren(new Option('Please choose', ''), ...names.map((name) => new Option(name)));
  branch.disabled = names.length === 0;
});`;

const LOOK_UP = `
const found = document.querySelector('#found');
document.querySelector('#look').addEventListener('click', async () => {
  const answer = await fetch('/places?postcode=' + encodeURIComponent(document.querySelector('#postcode').value));
  const places = await answer.json();
  found.replaceChildren(...places.map((place) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = place.street + ', ' + place.town;
    button.addEventListener('click', () => {
      document.querySelector('#street').value = place.street;
      document.querySelector('#town').value = place.town;
      found.replaceChildren();
    });
    return button;
  }));
  if (places.length === 0) found.textContent = 'No address is known there.';
});`;

const FEEDBACK = `
const dialog = document.querySelector('dialog');
document.querySelector('#feedback').addEventListener('click', () => dialog.showModal());
document.querySelector('#close').addEventListener('click', () => dialog.close());`;

export function specialRoutes(page: OfficePage): Readonly<Record<string, Handler<OfficeState>>> {
  return {
    'GET /form/animal': (state) =>
      page(
        state,
        'Register an animal',
        markup`<form method="post" action="/form/animal">
<section data-step="0" aria-label="Step 1 of 3"><h2>Step 1 of 3: the animal</h2>
<p><label for="kind">Kind</label> <select id="kind" name="kind" required><option value="">Please choose</option>${options(KINDS)}</select></p>
<p><label for="called">Name of the animal</label> <input id="called" name="called" required></p>
<button type="button" data-to="1">Continue</button></section>
<section data-step="1" aria-label="Step 2 of 3" hidden><h2>Step 2 of 3: details</h2>
<div data-kind="Dog"><p><label for="chip">Chip number</label> <input id="chip" name="chip"></p><p><label class="tick"><input type="checkbox" name="guide"> It is a guide dog</label></p></div>
<div data-kind="Cat"><p><label for="indoors">Lives</label> <select id="indoors" name="indoors">${options(['Indoors', 'Outdoors'])}</select></p></div>
<div data-kind="Horse"><p><label for="stable">Stable</label> <input id="stable" name="stable"></p></div>
<button type="button" data-to="0">Back</button> <button type="button" data-to="2">Continue</button></section>
<section data-step="2" aria-label="Step 3 of 3" hidden><h2>Step 3 of 3: you</h2>
<p><label for="owner">Owner</label> <input id="owner" name="owner" required></p>
<button type="button" data-to="1">Back</button> <button>Register</button></section></form>`,
        STEPS,
      ),
    'POST /form/animal': (state, { form }) => {
      const [kind, called, owner, chip, indoors, stable] = ['kind', 'called', 'owner', 'chip', 'indoors', 'stable'].map(
        (name) => (form.get(name) ?? '').trim(),
      );
      const details: JsonObject | undefined = {
        Dog: { chip, guide: form.has('guide') },
        Cat: { indoors },
        Horse: { stable },
      }[kind];
      if (!KINDS.includes(kind) || called === '' || owner === '' || chip + indoors + stable === '')
        return badRequest('Fill in every step.');
      return redirect(thanks(handIn(state, 'animal', { kind, called, owner, ...details }).id));
    },
    'GET /form/expenses': (state) =>
      page(
        state,
        'Claim expenses',
        markup`<form method="post" action="/form/expenses"><p><label for="trip">Trip</label> <input id="trip" name="trip" required></p>
<table><thead><tr><th>Kind</th><th>Amount in £</th><th></th></tr></thead><tbody></tbody></table>
<p><button type="button" id="add">Add line</button></p><button>Claim</button></form>
<template><tr><td><select data-field="kind" data-label="Kind">${options(ROW_KINDS)}</select></td>
<td><input data-field="amount" data-label="Amount" type="number" min="0" step="0.01" required></td><td><button type="button">Remove</button></td></tr></template>`,
        ROWS,
      ),
    'POST /form/expenses': (state, { form }) => {
      const trip = (form.get('trip') ?? '').trim();
      const lines: { id: string; kind: string; pence: number }[] = [];
      for (let i = 0; form.has(`kind${i}`); i++) {
        const [kind, pence] = [form.get(`kind${i}`) ?? '', Math.round(Number(form.get(`amount${i}`) ?? '') * 100)];
        if (!ROW_KINDS.includes(kind) || !(pence > 0)) return badRequest(`Line ${i + 1} is not complete.`);
        lines.push({ id: `line${i + 1}`, kind, pence });
      }
      if (trip === '' || lines.length === 0) return badRequest('A claim needs a trip and a line.');
      return redirect(thanks(handIn(state, 'expenses', { trip, lines }).id));
    },
    'GET /branches': (state, { query }) => jsonReply(branchesOf(state, query.get('country') ?? '')),
    'GET /form/parcel': (state) =>
      page(
        state,
        'Send a parcel abroad',
        markup`<form method="post" action="/form/parcel">
<p><label for="country">Country</label> <select id="country" name="country" required><option value="">Please choose</option>${options(COUNTRIES)}</select></p>
<p><label for="branch">Branch</label> <select id="branch" name="branch" required disabled><option value="">Choose a country first</option></select></p>
<p><label for="weight">Weight in kg</label> <input id="weight" name="weight" type="number" min="1" max="30" required></p><button>Send parcel</button></form>`,
        BRANCHES,
      ),
    'POST /form/parcel': (state, { form }) => {
      const [country, branch, weight] = ['country', 'branch', 'weight'].map((name) => form.get(name) ?? '');
      if (!branchesOf(state, country).includes(branch) || !(Number(weight) >= 1))
        return badRequest('Choose a country, one of its branches, and a weight.');
      return redirect(thanks(handIn(state, 'parcel', { country, branch, weight: Number(weight) }).id));
    },
    'GET /places': ({ places }, { query }) => {
      const wanted = (query.get('postcode') ?? '').replace(/\s/g, '').toUpperCase();
      return jsonReply(
        places
          .filter(({ postcode }) => postcode.replace(/\s/g, '') === wanted)
          .map(({ street, town }) => ({ street, town })),
      );
    },
    'GET /form/bin': (state) =>
      page(
        state,
        'Order a refuse bin',
        markup`<form method="post" action="/form/bin">
<p><label for="postcode">Postcode</label> <input id="postcode" name="postcode" required> <button type="button" id="look">Find address</button></p><p id="found" role="group" aria-label="Addresses found"></p>
<p><label for="street">Street</label> <input id="street" name="street" readonly required></p><p><label for="town">Town</label> <input id="town" name="town" readonly required></p>
<p><label for="size">Size</label> <select id="size" name="size">${options(['120 litres', '240 litres'])}</select></p><button>Order bin</button></form>`,
        LOOK_UP,
      ),
    'POST /form/bin': (state, { form }) => {
      const [street, town, size] = ['street', 'town', 'size'].map((name) => form.get(name) ?? '');
      if (!state.places.some((place) => place.street === street && place.town === town))
        return badRequest('Find the address by its postcode first.');
      return redirect(thanks(handIn(state, 'bin', { street, town, size }).id));
    },
    'GET /form/job': (state) =>
      page(
        state,
        'Apply for a job',
        markup`<form method="post" action="/form/job" enctype="multipart/form-data">
<p><label for="post">Post</label> <select id="post" name="post">${options(['Gardener', 'Librarian', 'Clerk'])}</select></p>
<p><label for="name">Full name</label> <input id="name" name="name" required></p>
<p><label for="letter">Letter (text file)</label> <input id="letter" name="letter" type="file" accept=".txt" required></p><button>Apply</button></form>`,
      ),
    'POST /form/job': (state, { form, files }) => {
      const [post, name] = ['post', 'name'].map((field) => (form.get(field) ?? '').trim());
      const letter = files.get('letter');
      if (name === '' || letter === undefined) return badRequest('An application needs a name and a letter.');
      return redirect(thanks(handIn(state, 'job', { post, name, file: letter.name, text: letter.text }).id));
    },
    'GET /feedback': (state) =>
      page(
        state,
        'Tell us how we do',
        markup`<p><button id="feedback">Give feedback</button></p><dialog aria-label="Feedback"><form method="post" action="/feedback">
<fieldset><legend>Stars</legend>${[1, 2, 3, 4, 5].map((n) => markup`<label class="tick"><input type="radio" name="stars" value="${n}" required> ${n}</label> `)}</fieldset>
<p><label for="words">Words</label> <input id="words" name="words"></p><button>Send feedback</button> <button type="button" id="close">Close</button></form></dialog>`,
        FEEDBACK,
      ),
    'POST /feedback': (state, { form }) => {
      const stars = Number(form.get('stars'));
      if (!(stars >= 1 && stars <= 5)) return badRequest('Choose the stars first.');
      return redirect(thanks(handIn(state, 'feedback', { stars, words: (form.get('words') ?? '').trim() }).id));
    },
  };
}
