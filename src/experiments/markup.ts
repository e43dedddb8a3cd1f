// HTML in which everything is escaped unless it was made here: text of pages under test is hostile, and a report
// shows a lot of it. Not a template language.

const made = Symbol('made by markup');

/** Markup that is safe to insert as it is. Only `markup` makes it. */
export type Html = { readonly [made]: string };

export type HtmlValue = Html | string | number | readonly HtmlValue[];

/** A template whose values are escaped, except those that are `Html` already; lists are joined. */
export function markup(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return { [made]: strings.reduce((out, part, i) => out + toMarkup(values[i - 1]) + part) };
}

/** Nothing, for the branch of a condition that shows nothing. */
export const NOTHING: Html = markup``;

/**
 * A `<style>` element with exactly `css` in it, so that its hash can be given in a content security policy. Not escaped:
 * it must be the program's own, and must not be able to end the element.
 */
export function styleElement(css: string): Html {
  if (css.includes('</')) throw new RangeError('a style sheet must not contain "</"');
  return { [made]: `<style>${css}</style>` };
}

/** The finished text. */
export function htmlToString(value: Html): string {
  return value[made];
}

function toMarkup(value: HtmlValue): string {
  if (typeof value === 'string') return escape(value);
  if (typeof value === 'number') return String(value);
  return isHtml(value) ? value[made] : value.map(toMarkup).join('');
}

function isHtml(value: Html | readonly HtmlValue[]): value is Html {
  return made in value;
}

function escape(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;')
      // Control characters other than tab and newline, and marks that turn the direction of text around, would let a
      // page disguise what it says.
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
  );
}
