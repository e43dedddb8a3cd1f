// Where text goes and whether it may be coloured. It knows nothing of what is printed.

import { styleText } from 'node:util';

/** The part of a writable stream that output needs. */
export type TextStream = {
  readonly isTTY?: boolean;
  /** Width of the terminal in characters. Default 80. */
  readonly columns?: number;
  write(text: string): unknown;
};

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red' | 'cyan';

/** Puts a style on text, or leaves it as it is where colours are not wanted. */
export type Paint = (style: Style, text: string) => string;

export type Environment = Readonly<Record<string, string | undefined>>;

/** True for a terminal that can move its cursor. */
export function isLiveTerminal(stream: TextStream, environment: Environment): boolean {
  return stream.isTTY === true && environment.TERM !== 'dumb' && (environment.CI ?? '') === '';
}

/** Colours on a terminal only, and never against NO_COLOR (https://no-color.org: any value but the empty one). */
export function createPaint(stream: TextStream, environment: Environment): Paint {
  const wanted = stream.isTTY === true && environment.TERM !== 'dumb' && (environment.NO_COLOR ?? '') === '';
  // The decision is made here; styleText of newer Node versions would make its own from process.stdout.
  return wanted ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text;
}
