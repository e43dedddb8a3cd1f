// Text that grows: nothing is given out that a later token may still change, neither half a character nor the beginning of
// a text that would end the sample.

const REPLACEMENT = '\ufffd';

/** The text up to where the first of `stops` begins. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return found.length === 0 ? text : text.slice(0, Math.min(...found));
}

/** What of an unfinished text can be said for good. */
export function sayable(text: string, stops: readonly string[]): string {
  const cut = cutAtStop(text, stops);
  if (cut.length < text.length) return cut;
  let end = text.length;
  while (text[end - 1] === REPLACEMENT) end--;
  const whole = text.slice(0, end);
  return whole.slice(0, whole.length - heldBack(whole, stops));
}

/**
 * What of a growing reply is text whatever follows: calls of every format begin with one of these characters, and blanks
 * before a call are not part of the text.
 */
export function beforeCall(text: string): string {
  return text.split(/[<{[]/, 1)[0].trimEnd();
}

/** How many characters at the end may turn out to be the beginning of a stop text. */
function heldBack(text: string, stops: readonly string[]): number {
  let held = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > held; length--) {
      if (text.endsWith(stop.slice(0, length))) held = length;
    }
  }
  return held;
}
