// Framing between a cell process and its host: four bytes of length, most significant first, then that many bytes
// of JSON. It knows no message; a length above the limit is an error before anything is kept.

export class FrameError extends Error {
  override readonly name = 'FrameError';
}

export function encodeFrame(json: string): Buffer {
  const length = Buffer.byteLength(json);
  const frame = Buffer.allocUnsafe(4 + length);
  frame.writeUInt32BE(length, 0);
  frame.write(json, 4);
  return frame;
}

/** Takes chunks as they come and calls `receive` for each whole frame, in order. Throws `FrameError`. */
export function createFrameReader(maxBytes: number, receive: (json: string) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let held = 0;
  let wanted: number | undefined; // length of the frame that has begun
  const take = (bytes: number): Buffer => {
    const all = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, held);
    held -= bytes;
    chunks = held === 0 ? [] : [all.subarray(bytes)];
    return all.subarray(0, bytes);
  };
  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    for (;;) {
      if (wanted === undefined) {
        if (held < 4) return;
        wanted = take(4).readUInt32BE(0);
        if (wanted > maxBytes) throw new FrameError(`a frame of ${wanted} bytes; the limit is ${maxBytes}`);
      }
      if (held < wanted) return;
      const json = take(wanted).toString('utf8');
      wanted = undefined;
      receive(json);
    }
  };
}
