// Model and number of a request that cannot be taken, where the beginning of its body tells them: a number that was sent
// will not come again, and the model must not wait for it. Reads no more than it must and complains of nothing.

export type Numbered = { readonly modelId: string; readonly seqId: number };

/** Longest name that is looked at. */
const MAX_TEXT = 1_000;

/** Of a protobuf message, where both come first. */
export function peekProto(bytes: Uint8Array): Numbered | undefined {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return NaN;
  };
  if (varint() !== 0x0a) return undefined; // field 1, a text
  const length = varint();
  if (!(length > 0 && length < MAX_TEXT && at + length < bytes.length)) return undefined;
  const modelId = new TextDecoder().decode(bytes.subarray(at, at + length));
  at += length;
  if (varint() !== 0x10) return undefined; // field 2, a number
  const seqId = varint();
  return seqId > 0 ? { modelId, seqId } : undefined;
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const OPENING: readonly number[] = [0x5b, 0x7b];
const CLOSING: readonly number[] = [0x5d, 0x7d];

/** Of a JSON object, as far as it is there: both must lie in it themselves, not in what it holds. */
export function peekJson(bytes: Uint8Array): Numbered | undefined {
  let depth = 0;
  let key: string | undefined;
  let isValue = false;
  let modelId: string | undefined;
  let seqId: number | undefined;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfText(bytes, at);
      if (end === undefined) return undefined;
      if (depth === 1 && end - at < MAX_TEXT) {
        const text = textOf(bytes.subarray(at, end + 1));
        if (!isValue) key = text;
        else if (key === 'model_id') modelId = text;
      }
      at = end;
    } else if (OPENING.includes(byte)) depth++;
    else if (CLOSING.includes(byte)) depth--;
    else if (depth === 1 && byte === COLON) isValue = true;
    else if (depth === 1 && byte === COMMA) isValue = false;
    else if (depth === 1 && isValue && key === 'seq_id' && isDigit(byte)) {
      let end = at;
      while (isDigit(bytes[end])) end++;
      if (end === bytes.length || end - at > 15) return undefined; // cut off, or beyond what a number holds
      seqId = Number(new TextDecoder().decode(bytes.subarray(at, end)));
      at = end - 1;
    }
    if (modelId !== undefined && seqId !== undefined) return { modelId, seqId };
  }
  return undefined;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

function endOfText(bytes: Uint8Array, start: number): number | undefined {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at;
  }
  return undefined;
}

function textOf(quoted: Uint8Array): string | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(quoted)) as string;
  } catch {
    return undefined; // no text after all; what is wrong with the body is told by whoever reads it
  }
}
