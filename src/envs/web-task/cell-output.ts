// A cell's result as a model is shown it: what the host says about the cell in one part, what the cell and the page said
// in another, so that the second cannot pass for the first. Pure.

import type { BrowserReplResult, ContentItem } from '../../repl/index.ts';

/** What the host says (`notice`), and what the cell said (`page`). */
export type ShownResult = { readonly notice: string; readonly page: string };

/** Of an error with its stack; the rest is seldom read. */
const ERROR_CHARACTERS = 2_000;

export function showResult(result: BrowserReplResult, outputCharacters: number): ShownResult {
  const output = textOf(result.content ?? []);
  const error = result.success ? '' : (result.stack ?? result.error ?? 'the cell failed');
  const notices = [
    result.success ? 'The cell ran.' : 'The cell failed.',
    ...cutNotice('output', output, outputCharacters, ' Write less: a count, a filter, a part.'),
    ...cutNotice('error', error, ERROR_CHARACTERS),
    ...(result.content_truncated === true ? ['The cell wrote more than an answer can hold; some of it is lost.'] : []),
    ...(result.repl_terminated === true
      ? [
          'repl_terminated: the session of the REPL ended with this cell. Its variables are gone; pages and tabs may still be open. The next cell starts a new session.',
        ]
      : []),
  ];
  const page = [cut(output, outputCharacters), cut(error, ERROR_CHARACTERS)].filter((text) => text !== '').join('\n');
  return { notice: notices.join(' '), page };
}

function cutNotice(what: string, text: string, most: number, advice = ''): readonly string[] {
  if (text.length <= most) return [];
  return [`The ${what} was cut: the first ${most} of ${text.length} characters are shown.${advice}`];
}

/** Not between the halves of a surrogate pair. */
function cut(text: string, most: number): string {
  const end = text.length > most && /[\uD800-\uDBFF]/.test(text[most - 1]) ? most - 1 : most;
  return text.slice(0, end);
}

function textOf(content: readonly ContentItem[]): string {
  return content
    .map((item) => {
      if (item.type === 'text') return item.text;
      return `[an image, ${item.mime_type}, ${Math.ceil((item.data_b64.length * 3) / 4 / 1024)} kB, which is not shown]`;
    })
    .join('\n');
}
