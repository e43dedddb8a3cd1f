// A judge's reply as JSON, read strictly: one object and nothing around it but the marks of a code block, no name twice,
// what was thought before what was decided. Anything else is no reply; nothing is guessed from words that stand in a text.

import type { z } from 'zod';
import { judgeFault } from './fault.ts';

/** The reply checked by `schema`. Throws `TabwrightError` (boundary `judge`). */
export function readJson<T>(text: string, schema: z.ZodType<T>): T {
  if (text.trim() === '') throw judgeFault('judge-empty', 'The judge said nothing.');
  const bad = (problem: string): never => {
    throw judgeFault('judge-bad-reply', `The judge's reply cannot be read: ${problem}.`, {
      reply: text.slice(0, 500),
    });
  };
  const json = insideBlock(text);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return bad('it is no JSON');
  }
  const twice = repeatedName(json);
  if (twice !== undefined) return bad(`it says ${JSON.stringify(twice)} twice`);
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return bad(`${issue.path.join('.')}${issue.path.length === 0 ? '' : ': '}${issue.message}`);
  }
  const names = Object.keys(value as object);
  if (names.length > 1 && names.includes('reasoning') && names[0] !== 'reasoning') {
    return bad('it decides before it has reasoned');
  }
  return parsed.data;
}

/** Models that are not held to a schema like to put their JSON into a code block: it must be the whole reply. */
function insideBlock(text: string): string {
  const [, inside] = /^\s*```(?:json)?\r?\n([^]*?)\r?\n```\s*$/.exec(text) ?? [];
  return inside ?? text;
}

/** The first name that an object of this JSON has twice: parsers keep the last and say nothing. */
function repeatedName(json: string): string | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (const token of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/gs)) {
    const [text, colon] = token;
    if (text === '{') open.push(new Set());
    else if (text === '[') open.push(undefined);
    else if (text === '}' || text === ']') open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(text.slice(0, -colon.length)) as string;
      const names = open.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
}
