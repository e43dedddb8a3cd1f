import { expect, it } from 'vitest';
import { openZstd } from './zstd.ts';

/** A frame of blocks that are given as they are; `size` is claimed in the header when given. */
function frame(blocks: readonly (readonly number[])[], size?: number): Uint8Array {
  const magic = [0x28, 0xb5, 0x2f, 0xfd];
  const header =
    size === undefined
      ? [0x00, 0x48]
      : [0xa0, size & 255, (size >> 8) & 255, (size >> 16) & 255, Math.floor(size / 2 ** 24) & 255];
  return Uint8Array.from([...magic, ...header, ...blocks.flat()]);
}

function block(kind: 0 | 1, size: number, content: readonly number[], last: boolean): readonly number[] {
  const bits = (size << 3) | (kind << 1) | (last ? 1 : 0);
  return [bits & 255, (bits >> 8) & 255, bits >> 16, ...content];
}

it('opens a frame with and without its size in the header', () => {
  const blocks = [block(0, 3, [1, 2, 3], false), block(1, 2, [9], true)];
  expect(openZstd(frame(blocks), 100)).toEqual(Uint8Array.of(1, 2, 3, 9, 9));
  expect(openZstd(frame(blocks, 5), 100)).toEqual(Uint8Array.of(1, 2, 3, 9, 9));
});

it('opens what the real encoder made, from a pipe (no size) and from a file', () => {
  const lines = Array.from({ length: 100 }, (_, i) => `line ${i} of what the encoder is given\n`).join('');
  const piped =
    'KLUv/QRo3QUA4k0iFpArHUBLf7WtBMyM6FKmlJKU1mTXNSd3dj9fj1dHN1fuzOxmq9HKyMaK3e2/3/N1+rz8bL7tmi6Tx8VX6+u2bJU6LT0aT7Mki8Rh4ZXVy9ViVVFNqSOjk6lEKiKaQjc2H0+HU0MzZc7usmgAicRxKCCMA7JIBgpBIkESQwNpBAwPhKBACpIkDohkqBGA+P0/A+A3AxJIEPj/FQTmDwAiIAACEAABEACBiuCF4CHRSEREROxOwANIVUzA7hQ=';
  const filed =
    'KLUv/WRqDd0FAOJNIhaQKx1AS3+1rQTMjOhSppSSlNZk1zUnd3Y/X49XRzdX7szsZqvRysjGit3tv9/zdfq8/Gy+7Zouk8fFV+vrtmyVOi09Gk+zJIvEYeGV1cvVYlVRTakjo5OpRCoimkI3Nh9Ph1NDM2XO7rJoAInEcSggjAOySAYKQSJBEkMDaQQMD4SgQAqSJA6IZKgRgPj9PwPgNwMSSBD4/xUE5g8AIiAAAhAAARAAgYrgheAh0UhERETsTsADSFVMwO4U';
  for (const text of [piped, filed]) {
    const opened = openZstd(Buffer.from(text, 'base64'), 10_000);
    expect(new TextDecoder().decode(opened)).toBe(lines);
  }
  expect(() => openZstd(Buffer.from(filed, 'base64'), 1000)).toThrow(/limit of 1000/);
  expect(() => openZstd(Buffer.from(piped, 'base64'), 1000)).toThrow(/limit of 1000/);
});

it('a bomb is refused before it is blown up: a few bytes that stand for gigabytes', () => {
  const bomb = frame([...Array<readonly number[]>(20_000).fill(block(1, 131_072, [0], false)), block(1, 1, [0], true)]);
  const start = performance.now();
  expect(() => openZstd(bomb, 1_000_000)).toThrow(/limit of 1000000/);
  expect(performance.now() - start).toBeLessThan(3000);
});

it('a size that is only claimed is refused before memory is taken for it', () => {
  expect(() => openZstd(frame([block(0, 0, [], true)], 0xf0000000), 1_000_000)).toThrow(/more than the limit/);
});

it('very many tiny blocks are refused: each costs time', () => {
  const many = frame(Array<readonly number[]>(70_000).fill(block(0, 0, [], false)));
  expect(() => openZstd(many, 1_000_000)).toThrow(/blocks/);
});

it('what ends early, goes on after its end or is no zstd is called damaged', () => {
  expect(() => openZstd(frame([block(0, 3, [1, 2, 3], false)]), 100)).toThrow(/ends before/);
  expect(() => openZstd(Uint8Array.from([...frame([block(0, 1, [1], true)]), 7]), 100)).toThrow(/one whole frame/);
  expect(() => openZstd(new TextEncoder().encode('this is no zstd'), 100)).toThrow(/begin/);
});
