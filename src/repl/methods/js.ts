// Model-written code inside the page: an expression, or a function with one argument.

import { z } from 'zod';
import { isFunctionSource, type FunctionSource } from '../wire-values.ts';
import { onTarget } from './attach.ts';
import { evaluate } from './evaluate.ts';
import { helperFailed } from './failures.ts';
import { hostMethod, nonEmpty, options } from './method.ts';

const functionSchema = z.custom<FunctionSource>(isFunctionSource);

export const js = hostMethod(
  {
    name: 'js',
    namespace: 'browser',
    effect: 'acts',
    signature: 'js(expression | function, {arg?, targetId?}?)',
    description:
      'Runs code in the page once and returns its value by copy; a promise is awaited. A string is one expression, without `return` or `await`. A function is sent as its text: it sees the page and its one argument `arg` (plain data), nothing of the cell. What has no copy, such as a DOM node, becomes undefined. `targetId` runs it in another tab or frame.',
    example:
      'const rows = await js(() => [...document.querySelectorAll("tr")].map((row) => row.innerText));\nconst text = await js((selector) => document.querySelector(selector)?.textContent, { arg: "h1" });',
  },
  [
    z.union([z.string(), functionSchema], { error: 'the first argument must be an expression or a function' }),
    options({ arg: z.unknown().optional(), targetId: nonEmpty('targetId').optional() }),
  ],
  async ({ scope, page }, code, given) => {
    const { arg, targetId } = given;
    if (typeof code === 'string' && 'arg' in given) throw helperFailed('js', 'arg needs a function, not an expression');
    const expression = typeof code === 'string' ? code : `(${code.source})(${'arg' in given ? literal(arg) : ''})`;
    if (targetId !== undefined) return onTarget(scope, targetId, (target) => evaluate(scope, target, expression));
    return evaluate(scope, await page(), expression);
  },
);

/** A value as JavaScript source, also where JSON has no word for it. */
export function literal(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (isFunctionSource(value) || Buffer.isBuffer(value))
    throw helperFailed('js', 'arg must be plain data: no functions, no bytes');
  if (Array.isArray(value)) return `[${value.map(literal).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    // A computed key is a property even when it is called __proto__.
    return `{${Object.entries(value)
      .map(([key, item]) => `[${JSON.stringify(key)}]:${literal(item)}`)
      .join(',')}}`;
  }
  return value === undefined ? 'undefined' : JSON.stringify(value);
}
