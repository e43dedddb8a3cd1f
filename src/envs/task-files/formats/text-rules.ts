// `reference_answers` and `required_contents` of WebArena and VisualWebArena as rules. A reference that anything meets,
// an empty text or an empty list, is refused: it would be a success for everybody.

import { z } from 'zod';
import type { Inequality, TextRule } from '../loaded-task.ts';
import { filled } from './format.ts';

const OR = ' |OR| ';
const ANYTHING = 'must hold a text: without one anything is right';
const texts = z.array(filled).min(1, ANYTHING);
const alternatives = z
  .array(filled.transform((text) => text.split(OR)).refine((all) => all.every((one) => one.trim() !== ''), ANYTHING))
  .min(1, ANYTHING);

const inequality = z.string().transform((text, context): Inequality => {
  const match = /^\s*(<=|>=|==|<|>)\s*(-?\d+(?:\.\d+)?)\s*$/u.exec(text);
  if (match !== null) return { relation: match[1] as Inequality['relation'], value: Number(match[2]) };
  context.addIssue({ code: 'custom', message: 'must be a relation and a number, such as ">= 300"' });
  return z.NEVER;
});

/** For texts of a page and answers alike; `means` and `unachievable` belong to answers. */
export const textRulesSchema = z
  .strictObject({
    exact_match: z.union([filled, z.number().transform(String)]).optional(),
    must_include: alternatives.optional(),
    must_exclude: texts.optional(),
    one_of: texts.optional(),
    required_values: z
      .array(
        z
          .string()
          .transform((text) => text.split(OR))
          .pipe(z.array(inequality)),
      )
      .min(1, ANYTHING)
      .optional(),
    fuzzy_match: z.union([filled, texts]).optional(),
  })
  .refine((rules) => Object.values(rules).some((rule) => rule !== undefined), 'must hold a rule such as must_include');

export type TextRules = z.output<typeof textRulesSchema>;

/** `reason`: why it cannot be done, where the answer is to say that. `words`: references of one word are whole words. */
export function textRules(
  rules: TextRules,
  { reason, words }: { readonly reason: string; readonly words: boolean },
): readonly TextRule[] {
  const { exact_match, must_include, must_exclude, one_of, required_values, fuzzy_match } = rules;
  return [
    ...(exact_match === undefined ? [] : [{ rule: 'exact', value: exact_match } as const]),
    ...(must_include === undefined ? [] : [{ rule: 'includes', values: must_include, words } as const]),
    ...(must_exclude === undefined ? [] : [{ rule: 'excludes', values: must_exclude, words } as const]),
    ...(one_of === undefined ? [] : [{ rule: 'one-of', values: one_of } as const]),
    ...(required_values === undefined ? [] : [{ rule: 'numbers', values: required_values } as const]),
    ...(fuzzy_match === undefined
      ? []
      : fuzzy_match === 'N/A'
        ? [{ rule: 'unachievable', reason } as const]
        : [{ rule: 'means', values: typeof fuzzy_match === 'string' ? [fuzzy_match] : fuzzy_match } as const]),
  ];
}
