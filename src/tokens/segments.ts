// What a format writes: stretches of text, each either the format's own (control tokens in it count) or content
// (which in safe mode is nothing but text), and each with the message that it belongs to. Ids are made of them here, in
// one of two modes. Knows no format.

import type { RenderMode, Tokenizer } from '../core/index.ts';
import { controlSplitter } from './control-splitter.ts';

/** Index of a message; `format`: what belongs to none; `prompt`: the invitation to speak at the end. */
export type Origin = number | 'format' | 'prompt';

export type Segment = { readonly text: string; readonly kind: 'format' | 'content'; readonly origin: Origin };

export class SegmentWriter {
  readonly segments: Segment[] = [];
  /** Of what is written next. */
  origin: Origin = 'format';

  /** Text of the format; names of control tokens in it are those tokens. */
  format(text: string): this {
    return this.add(text, 'format');
  }

  /** Text that somebody said. */
  content(text: string): this {
    return this.add(text, 'content');
  }

  private add(text: string, kind: Segment['kind']): this {
    if (text !== '') this.segments.push({ text, kind, origin: this.origin });
    return this;
  }
}

export function segmentsText(segments: readonly Segment[]): string {
  return segments.map(({ text }) => text).join('');
}

export type SegmentEncoder = (segments: readonly Segment[]) => number[];

/**
 * Exact: all text is one string and every name of a control token in it counts, as templates have it. Safe: neighbouring
 * text is joined too, so that ids are those of `exact` wherever no content names a control token; where it does, it is text.
 */
export function segmentEncoder(tokenizer: Tokenizer, mode: RenderMode): SegmentEncoder {
  if (mode === 'exact') return (segments) => tokenizer.encode(segmentsText(segments), { control: true });
  const split = controlSplitter(
    [...tokenizer.controlTokens].map(([content, id]) => ({ content, id, lstrip: false, rstrip: false })),
  );
  return (segments) => {
    const ids: number[] = [];
    let text = '';
    const flush = (): void => {
      for (const id of tokenizer.encode(text)) ids.push(id);
      text = '';
    };
    // A control token of the format may be written in parts, so neighbours of one kind are one text first.
    for (const { kind, text: stretch } of joined(segments)) {
      for (const piece of kind === 'content' ? [{ text: stretch }] : split(stretch)) {
        if ('id' in piece && piece.id !== undefined) {
          flush();
          ids.push(piece.id);
        } else text += piece.text;
      }
    }
    flush();
    return ids;
  };
}

function joined(segments: readonly Segment[]): Pick<Segment, 'kind' | 'text'>[] {
  const result: { kind: Segment['kind']; text: string }[] = [];
  for (const { kind, text } of segments) {
    const last = result.at(-1);
    if (last?.kind === kind) last.text += text;
    else result.push({ kind, text });
  }
  return result;
}
