// What a model said, as a format reads it: text with marks in it. A mark that is a control token of the tokenizer counts
// only as that token, so that text which merely spells it stays text; other marks are found in the text.

import type { Tokenizer } from '../core/index.ts';

/** A mark, or text between marks. */
export type ReplyPiece = { readonly mark?: string; readonly text: string };

export type Reply = {
  readonly pieces: readonly ReplyPiece[];
  /** The stop token at the end; undefined when the reply was cut. */
  readonly stop: string | undefined;
};

export type ReadReplyOptions = {
  readonly tokenizer: Tokenizer;
  readonly stops: readonly string[];
  readonly marks: readonly string[];
  /** What the prompt already said of the turn, e.g. `<think>\n`. */
  readonly opening: readonly ReplyPiece[];
};

export function readReply(tokens: readonly number[], options: ReadReplyOptions): Reply {
  const { tokenizer, stops, marks } = options;
  const nameOf = new Map(
    [...new Set([...stops, ...marks])].flatMap((mark) => {
      const id = tokenizer.controlTokens.get(mark);
      return id === undefined ? [] : [[id, mark] as const];
    }),
  );
  const spelled = marks.filter((mark) => !tokenizer.controlTokens.has(mark));
  const pieces: ReplyPiece[] = [];
  let run: number[] = [];
  const flush = (): void => {
    if (run.length > 0) pieces.push(...splitAt(tokenizer.decode(run), spelled));
    run = [];
  };
  let stop: string | undefined;
  for (const token of tokens) {
    const name = nameOf.get(token);
    if (name === undefined) {
      run.push(token);
      continue;
    }
    flush();
    if (stops.includes(name)) {
      // Nothing that follows belongs to the turn: samplers end here.
      stop = name;
      break;
    }
    pieces.push({ mark: name, text: name });
  }
  flush();
  return { pieces: [...options.opening, ...pieces], stop };
}

function splitAt(text: string, marks: readonly string[]): ReplyPiece[] {
  if (marks.length === 0) return [{ text }];
  const pieces: ReplyPiece[] = [];
  let from = 0;
  while (from < text.length) {
    const found = marks
      .map((mark) => ({ mark, at: text.indexOf(mark, from) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at || b.mark.length - a.mark.length)[0];
    if (found === undefined) break;
    if (found.at > from) pieces.push({ text: text.slice(from, found.at) });
    pieces.push({ mark: found.mark, text: found.mark });
    from = found.at + found.mark.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

export function piecesText(pieces: readonly ReplyPiece[]): string {
  return pieces.map(({ text }) => text).join('');
}

export type Sections = {
  readonly thinking?: string;
  /** Text outside of calls, in order. */
  readonly texts: readonly string[];
  /** Inside of each block of a call, in order; `closed` is false when its end never came. */
  readonly blocks: readonly { readonly text: string; readonly closed: boolean }[];
};

/** Thinking first, then text and blocks of calls: how the chat formats with `<think>` and `<tool_call>` are built. */
export function readSections(pieces: readonly ReplyPiece[]): Sections {
  let rest = pieces;
  let thinking: string | undefined;
  const first = pieces.findIndex((piece) => piece.mark !== undefined || piece.text.trim() !== '');
  if (pieces[first]?.mark === '<think>') {
    const end = pieces.findIndex(({ mark }, index) => index > first && mark === '</think>');
    const until = end < 0 ? pieces.length : end;
    thinking = piecesText(pieces.slice(first + 1, until));
    rest = pieces.slice(until + 1);
  }
  const texts: string[] = [];
  const blocks: { text: string; closed: boolean }[] = [];
  let text = '';
  for (let index = 0; index < rest.length; index++) {
    const piece = rest[index];
    if (piece.mark !== '<tool_call>') {
      text += piece.text;
      continue;
    }
    const end = rest.findIndex(({ mark }, at) => at > index && mark === '</tool_call>');
    const until = end < 0 ? rest.length : end;
    texts.push(text);
    text = '';
    blocks.push({ text: piecesText(rest.slice(index + 1, until)), closed: end >= 0 });
    index = until;
  }
  texts.push(text);
  return { ...(thinking === undefined ? {} : { thinking }), texts, blocks };
}
