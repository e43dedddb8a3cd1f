// Functions whose source is the text that a cell would send: compiled ones carry helpers of their compiler, which no
// page has. The texts are those of the tests.

export function functionOf(...parts: string[]): unknown {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- making a function of a text is the point here
  return new Function(...parts);
}
