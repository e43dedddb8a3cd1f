// Markup by templates. What is put into one is escaped unless it is markup itself, so that a page of ours can be broken
// by no word in it. Pure.

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = Html | string | number | false | undefined | readonly HtmlValue[];

/** markup`<p>${text}</p>`: text is escaped, lists are joined, `false` and `undefined` are nothing. */
export function markup(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => (index === 0 ? '' : markupOf(values[index - 1])) + part).join(''));
}

/** For style sheets and scripts, which have no text of others in them but through `inScript`. */
export function raw(text: string): Html {
  return new Html(text);
}

/** A value as an expression in a `<script>`. In an attribute such as `onclick` put `JSON.stringify(value)`, as text. */
export function inScript(value: unknown): Html {
  return new Html(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escapeUnit));
}

/** Valid in text and in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

function markupOf(value: HtmlValue): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(markupOf).join('');
  return escapeHtml(String(value));
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
