// A form as data: its fields in order, what each accepts, and how it is shown and read on the server. What is more than
// fields (steps, rows, look-ups) is a page of its own beside this.

import type { JsonObject } from '../../../core/index.ts';
import { markup, raw, type Html } from '../html.ts';
import { options } from '../kit/layout.ts';

type Base = { readonly name: string; readonly label: string; readonly required?: boolean; readonly help?: string };

export type Field = Base &
  (
    | {
        readonly type: 'text' | 'email' | 'tel' | 'password' | 'date' | 'time' | 'month' | 'color';
        readonly pattern?: RegExp;
      }
    | { readonly type: 'number' | 'range'; readonly min: number; readonly max: number }
    | { readonly type: 'area' }
    | { readonly type: 'select' | 'radio' | 'ticks'; readonly options: readonly string[] }
    | { readonly type: 'tick' }
  );

export type FormSpec = {
  readonly id: string;
  readonly title: string;
  readonly intro: string;
  readonly sections: readonly { readonly legend: string; readonly fields: readonly Field[] }[];
  readonly send: string;
  /** What the fields must be together: by field, what is wrong. */
  readonly check?: (values: Values) => Readonly<Record<string, string>>;
};

/** Lists where several may be ticked. */
export type Values = { readonly [name: string]: string | boolean | readonly string[] };

export function fieldsOf({ sections }: FormSpec): readonly Field[] {
  return sections.flatMap(({ fields }) => fields);
}

export type ShowForm = {
  readonly spec: FormSpec;
  readonly action: string;
  readonly values?: Values;
  readonly errors?: Readonly<Record<string, string>>;
};

export function showForm({ spec, action, values = {}, errors = {} }: ShowForm): Html {
  const wrong = Object.keys(errors).length;
  return markup`<p>${spec.intro}</p>
${wrong > 0 && markup`<p role="alert" class="error">Please correct ${wrong} ${wrong === 1 ? 'field' : 'fields'}.</p>`}
<form method="post" action="${action}" novalidate>
${spec.sections.map(({ legend, fields }) => markup`<fieldset><legend>${legend}</legend>\n${fields.map((field) => showField(field, values[field.name], errors[field.name]))}</fieldset>\n`)}
<button>${spec.send}</button></form>`;
}

function showField(field: Field, value: Values[string] | undefined, error: string | undefined): Html {
  const { name, label, help, required = false } = field;
  const text = typeof value === 'string' ? value : '';
  const has = (option: string): boolean =>
    Array.isArray(value) ? (value as readonly string[]).includes(option) : value === option;
  const note = markup`${help !== undefined && markup` <small class="muted">${help}</small>`}${error !== undefined && markup` <strong class="error" id="${name}-error">${error}</strong>`}`;
  const mark = required ? ' *' : '';
  const title = markup`<label for="${name}">${label}${mark}</label>`;
  switch (field.type) {
    case 'area':
      return markup`<p>${title}<br><textarea id="${name}" name="${name}" rows="3" cols="50">${text}</textarea>${note}</p>\n`;
    case 'select':
      return markup`<p>${title} <select id="${name}" name="${name}"><option value="">Please choose</option>${options(field.options, text)}</select>${note}</p>\n`;
    case 'radio':
    case 'ticks': {
      const kind = field.type === 'radio' ? 'radio' : 'checkbox';
      return markup`<div role="group" aria-label="${label}"><p>${label}${mark}: ${field.options.map(
        (option) =>
          markup`<label class="tick"><input type="${kind}" name="${name}" value="${option}"${has(option) && raw(' checked')}> ${option}</label> `,
      )}${note}</p></div>\n`;
    }
    case 'tick':
      return markup`<p><label class="tick"><input type="checkbox" name="${name}"${value === true && raw(' checked')}> ${label}${mark}</label>${note}</p>\n`;
    case 'number':
    case 'range':
      return markup`<p>${title} <input id="${name}" name="${name}" type="${field.type}" min="${field.min}" max="${field.max}" value="${text}">${note}</p>\n`;
    default:
      return markup`<p>${title} <input id="${name}" name="${name}" type="${field.type}" value="${text}" autocomplete="off">${note}</p>\n`;
  }
}

export function readForm(
  spec: FormSpec,
  form: URLSearchParams,
): { readonly values: Values; readonly errors: Readonly<Record<string, string>> } {
  const values: Record<string, Values[string]> = {};
  const errors: Record<string, string> = {};
  for (const field of fieldsOf(spec)) {
    const { name } = field;
    const text = (form.get(name) ?? '').replace(/\r\n/g, '\n').trim();
    // In the order of the form, so that the order of ticking does not count.
    values[name] =
      field.type === 'tick'
        ? form.has(name)
        : field.type === 'ticks'
          ? field.options.filter((option) => form.getAll(name).includes(option))
          : text;
    const problem = problemOf(field, values[name]);
    if (problem !== undefined) errors[name] = problem;
  }
  return { values, errors: { ...errors, ...(Object.keys(errors).length === 0 ? spec.check?.(values) : {}) } };
}

const FORMS_OF: Readonly<Partial<Record<Field['type'], RegExp>>> = {
  email: /^[^\s@]+@[^\s@]+\.[a-z]+$/i,
  tel: /^[\d +()-]{6,20}$/,
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d$/,
  month: /^\d{4}-\d\d$/,
  color: /^#[\da-f]{6}$/i,
};

function problemOf(field: Field, value: Values[string]): string | undefined {
  const empty = value === '' || value === false || (Array.isArray(value) && value.length === 0);
  if (empty) return field.required === true ? 'This is needed.' : undefined;
  if (typeof value !== 'string') return undefined;
  if ('options' in field) return field.options.includes(value) ? undefined : 'Choose one of the list.';
  if (field.type === 'number' || field.type === 'range') {
    const number = Number(value);
    return Number.isInteger(number) && number >= field.min && number <= field.max
      ? undefined
      : `A whole number from ${field.min} to ${field.max}.`;
  }
  const pattern = ('pattern' in field ? field.pattern : undefined) ?? FORMS_OF[field.type];
  return pattern === undefined || pattern.test(value) ? undefined : (field.help ?? 'This is not valid.');
}

/** As it is kept and compared. */
export function asKept(values: Values): JsonObject {
  return { ...values };
}
