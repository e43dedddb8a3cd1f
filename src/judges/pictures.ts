// Which pictures a judge is shown, and what they are. The choice is by rule, so the same episode gives the same choice,
// and it is recorded. Nothing is scaled here.

import { createHash } from 'node:crypto';
import type { ChatPart } from '../chat/index.ts';

export type ShownPicture = {
  /** In the episode, from 1: how prompts and replies name it. */
  readonly number: number;
  readonly part: Extract<ChatPart, { readonly type: 'image' }>;
};

export type PictureChoice = {
  readonly shown: readonly ShownPicture[];
  /** Numbers that were left out, by why. */
  readonly omitted: {
    readonly repeated: number[];
    readonly tooLarge: number[];
    readonly unreadable: number[];
    readonly surplus: number[];
  };
};

export type PictureLimits = {
  readonly maxPictures: number;
  /** Bytes of one picture. */
  readonly maxPictureBytes: number;
  /** Bytes of all of them: endpoints refuse requests that are too large. */
  readonly maxAllPictureBytes: number;
};

/** Of a run of equal pictures the last; of too many the first, the last and evenly between. */
export function choosePictures(pictures: readonly Uint8Array[], limits: PictureLimits): PictureChoice {
  const omitted: PictureChoice['omitted'] = { repeated: [], tooLarge: [], unreadable: [], surplus: [] };
  const hashes = pictures.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
  const usable = pictures.flatMap((bytes, index): readonly ShownPicture[] => {
    const number = index + 1;
    const mimeType = mimeTypeOf(bytes);
    const refuse = (why: keyof typeof omitted): readonly ShownPicture[] => {
      omitted[why].push(number);
      return [];
    };
    if (hashes[index] === hashes[index + 1]) return refuse('repeated');
    if (mimeType === undefined) return refuse('unreadable');
    if (bytes.byteLength > limits.maxPictureBytes) return refuse('tooLarge');
    return [{ number, part: { type: 'image', mimeType, dataB64: Buffer.from(bytes).toString('base64') } }];
  });
  const wanted = wantedOf(
    usable.map(({ part }) => (part.dataB64.length * 3) / 4),
    limits,
  );
  omitted.surplus.push(...usable.filter((_, index) => !wanted.has(index)).map(({ number }) => number));
  return { shown: usable.filter((_, index) => wanted.has(index)), omitted };
}

/** As many as there is room for. */
function wantedOf(bytes: readonly number[], { maxPictures, maxAllPictureBytes }: PictureLimits): ReadonlySet<number> {
  for (let most = Math.min(maxPictures, bytes.length); most > 1; most--) {
    const wanted = evenly(bytes.length, most);
    if (wanted.reduce((sum, index) => sum + bytes[index], 0) <= maxAllPictureBytes) return new Set(wanted);
  }
  return new Set(evenly(bytes.length, Math.min(maxPictures, 1)));
}

/** `most` of `count` positions: the last always, the first if there are two. */
export function evenly(count: number, most: number): readonly number[] {
  if (count <= most) return Array.from({ length: count }, (_, index) => index);
  if (most === 0) return [];
  if (most === 1) return [count - 1];
  return Array.from({ length: most }, (_, index) => Math.round((index * (count - 1)) / (most - 1)));
}

/** By the bytes; a wrong label makes endpoints refuse or misread a picture. */
export function mimeTypeOf(bytes: Uint8Array): string | undefined {
  const starts = (...values: readonly number[]): boolean => values.every((value, index) => bytes[index] === value);
  if (starts(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (starts(0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (starts(0x52, 0x49, 0x46, 0x46) && Buffer.from(bytes.subarray(8, 12)).toString('latin1') === 'WEBP') {
    return 'image/webp';
  }
  return undefined;
}
