// How content passes through somebody else's template without becoming a control token: every name of one in it is
// replaced by characters of the private use area, which templates leave alone, and put back as text afterwards.

import { controlSplitter } from './control-splitter.ts';
import type { Origin, Segment } from './segments.ts';

const OPEN = '\ue0f0';
const CLOSE = '\ue0f1';
/** Stands for a text whose place in the rendering is looked for. */
export const SPOKEN = '\ue0f2spoken\ue0f3';

export type Hider = {
  readonly hide: (content: string) => string;
  /** Of rendered text: the template's own stretches, and what was hidden as content. */
  readonly segments: (rendered: string, origin: Origin) => Segment[];
};

export function createHider(control: readonly string[]): Hider {
  // The marks themselves are hidden too, so that a page that holds them cannot play tricks.
  const names = [...control, OPEN, CLOSE, '\ue0f2', '\ue0f3'];
  const split = controlSplitter(names.map((content, id) => ({ content, id, lstrip: false, rstrip: false })));
  const pattern = new RegExp(`${OPEN}(\\d+)${CLOSE}`, 'g');
  // A content may end in the beginning of a name that the next one completes.
  const beginnings = new Set(control.flatMap((name) => [...name].map((_, index) => name.slice(0, index))).slice(1));
  const longest = Math.max(0, ...control.map((name) => name.length));
  const marked = (text: string): string => {
    const id = names.indexOf(text);
    if (id >= 0) return `${OPEN}${id}${CLOSE}`;
    names.push(text);
    return `${OPEN}${names.length - 1}${CLOSE}`;
  };
  return {
    hide(content) {
      const hidden = split(content)
        .map((piece) => (piece.id === undefined ? piece.text : marked(piece.text)))
        .join('');
      const end = hidden.trimEnd().length;
      for (let start = Math.max(0, end - longest); start < end; start++) {
        const tail = hidden.slice(start, end);
        if (tail !== '' && beginnings.has(tail)) {
          return hidden.slice(0, start) + marked(tail.charAt(0)) + hidden.slice(start + 1);
        }
      }
      return hidden;
    },
    segments(rendered, origin) {
      const segments: Segment[] = [];
      let from = 0;
      for (const match of rendered.matchAll(pattern)) {
        segments.push({ text: rendered.slice(from, match.index), kind: 'format', origin });
        segments.push({ text: names[Number(match[1])] ?? match[0], kind: 'content', origin });
        from = match.index + match[0].length;
      }
      segments.push({ text: rendered.slice(from), kind: 'format', origin });
      return segments.filter(({ text }) => text !== '');
    },
  };
}
