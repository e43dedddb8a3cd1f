// Prices of tokens on the command line: dollars for a million in and out, where an endpoint does not say what it charges.

import { z } from 'zod';

export type TokenPrices = { readonly prompt: number; readonly completion: number };

/** `1.1,4.4`; describe it where it is used. */
export function pricesSetting(): z.ZodString {
  return z.string().regex(/^\d+(\.\d+)?,\d+(\.\d+)?$/, 'needs two numbers, e.g. 1.1,4.4');
}

/** Of a text that fits `pricesSetting`. */
export function readPrices(text: string): TokenPrices {
  const [prompt, completion] = text.split(',').map(Number) as [number, number];
  return { prompt, completion };
}
