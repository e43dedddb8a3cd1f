// Collects what cells show, in the order in which they show it and within the limits of an answer. What comes while
// no cell runs waits for the next one: then the oldest gives way, in a cell the newest does.

import { LIMITS, truncateToBytes } from './limits.ts';

export type TextChannel = 'write' | 'stdout' | 'stderr';

export type ContentItem =
  | { readonly type: 'text'; readonly channel: TextChannel; readonly text: string }
  | { readonly type: 'image'; readonly mime_type: string; readonly data_b64: string };

export type CellContent = { readonly items: readonly ContentItem[]; readonly truncated: boolean };

export interface Output {
  text(channel: TextChannel, text: string): void;
  /** `bytes` is within the limit of one image. */
  image(mimeType: string, bytes: Uint8Array): void;
  /** A cell begins: what is waiting stands before what it will show. */
  begin(): void;
  /** The cell is over: everything so far. */
  end(): CellContent;
}

type Kept = { readonly item: ContentItem; readonly textBytes: number; readonly imageBytes: number };

export function createOutput(): Output {
  let kept: Kept[] = [];
  let textBytes = 0;
  let imageBytes = 0;
  let truncated = false;
  let inCell = false;

  const forgetOldest = (): void => {
    const oldest = kept.shift()!;
    textBytes -= oldest.textBytes;
    imageBytes -= oldest.imageBytes;
    truncated = true;
  };
  const keep = (entry: Kept): void => {
    kept.push(entry);
    textBytes += entry.textBytes;
    imageBytes += entry.imageBytes;
  };
  const isFull = (): boolean => {
    if (inCell) return kept.length >= LIMITS.items;
    while (kept.length >= LIMITS.strayItems) forgetOldest();
    return false;
  };

  const output: Output = {
    text(channel, text) {
      if (isFull()) {
        truncated = true;
        return;
      }
      let room = LIMITS.textBytes - textBytes;
      if (inCell && room === 0) {
        truncated = true;
        return;
      }
      if (!inCell) {
        const wanted = Math.min(Buffer.byteLength(text), LIMITS.textBytes);
        while (room < wanted) {
          forgetOldest();
          room = LIMITS.textBytes - textBytes;
        }
      }
      const shown = truncateToBytes(text, room);
      const isCut = shown.length < text.length;
      if (isCut) truncated = true;
      // A cut text takes all the room, so that nothing shorter follows what is missing.
      const taken = isCut ? room : Buffer.byteLength(shown);
      keep({ item: { type: 'text', channel, text: shown }, textBytes: taken, imageBytes: 0 });
    },
    image(mimeType, bytes) {
      if (isFull()) {
        truncated = true;
        return;
      }
      if (imageBytes + bytes.byteLength > LIMITS.imagesBytes) {
        truncated = true;
        output.text('stderr', `image dropped: one response holds at most ${LIMITS.imagesBytes} bytes of images`);
        return;
      }
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      keep({
        item: { type: 'image', mime_type: mimeType, data_b64: data },
        textBytes: 0,
        imageBytes: bytes.byteLength,
      });
    },
    begin() {
      inCell = true;
    },
    end() {
      const content = { items: kept.map(({ item }) => item), truncated };
      kept = [];
      textBytes = 0;
      imageBytes = 0;
      truncated = false;
      inCell = false;
      return content;
    },
  };
  return output;
}
