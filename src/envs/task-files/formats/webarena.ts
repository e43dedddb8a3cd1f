// WebArena, WebArena-Lite and VisualWebArena: a JSON array of tasks on hosted sites, whose addresses are placeholders.
// Checks: the answer's text, the last address, contents of pages. Helpers of the benchmark that ask a shop's own API
// with an administrator's password, and comparisons of pictures, are known by name and not supported.

import { z } from 'zod';
import type { Check, LoadedTask, PageTarget } from '../loaded-task.ts';
import { address, filled, rowId, rowReader, type Format } from './format.ts';
import { pageHelper } from './page-helpers.ts';
import { textRules, textRulesSchema } from './text-rules.ts';

const target = z.looseObject({
  url: filled,
  locator: z.string(),
  prep_actions: z.array(z.string()).optional(),
  required_contents: textRulesSchema.refine((rules) => rules.fuzzy_match === undefined, 'fuzzy_match is for answers'),
});
type Target = z.output<typeof target>;

const evalSchema = z
  .looseObject({
    eval_types: z.array(filled).min(1, 'must name a check: a task without one is done by doing nothing'),
    reference_answers: textRulesSchema.nullish(),
    reference_url: z.string().nullish(),
    url_note: z.enum(['GOLD in PRED', 'EXACT']).optional(),
    string_note: z.string().nullish(),
    program_html: z.array(target).nullish(),
  })
  .superRefine((row, context) => {
    const asks = (type: string): boolean => row.eval_types.includes(type);
    const missing = (path: string, type: string): void =>
      context.addIssue({ code: 'custom', path: [path], message: `is missing, and eval_types asks for ${type}` });
    if (asks('string_match') && (row.reference_answers ?? undefined) === undefined)
      missing('reference_answers', 'string_match');
    if (asks('url_match') && (row.reference_url ?? '') === '') missing('reference_url', 'url_match');
    if (asks('program_html') && (row.program_html ?? []).length === 0) missing('program_html', 'program_html');
    if (row.reference_answers?.fuzzy_match === 'N/A' && (row.string_note ?? '') === '') {
      const message = 'is missing: it says why the task cannot be done, which a judge has to know';
      context.addIssue({ code: 'custom', path: ['string_note'], message });
    }
  });

const schema = z.looseObject({
  sites: z.array(filled).min(1),
  task_id: rowId,
  require_login: z.boolean(),
  storage_state: z.string().nullish(),
  start_url: z
    .string()
    .transform((text) => text.split(' |AND| '))
    .pipe(z.array(address).min(1)),
  geolocation: z.looseObject({ latitude: z.number(), longitude: z.number() }).nullish(),
  intent: filled,
  intent_template_id: z.union([z.number(), z.string()]),
  require_reset: z.boolean(),
  image: z.union([z.string(), z.array(z.string())]).nullish(),
  visual_difficulty: z.string().optional(),
  eval: evalSchema,
});
type Row = z.output<typeof schema>;

export const webarenaFormat: Format = {
  name: 'webarena',
  claims: (row) => 'intent' in row && 'eval' in row && 'start_url' in row,
  read: rowReader(schema, (row): LoadedTask => {
    const { task_id, start_url, intent, intent_template_id, sites, image } = row;
    return {
      id: task_id,
      startUrls: start_url as [string, ...string[]],
      instruction: intent,
      group: `template-${intent_template_id}`,
      sites,
      needs: {
        login: row.require_login,
        storageState: row.storage_state ?? null,
        reset: row.require_reset,
        geolocation: placeOf(row.geolocation ?? undefined),
        images: [image ?? []].flat(),
        setupUrls: [],
      },
      checks: checksOf(row),
    };
  }),
};

function checksOf(row: Row): readonly Check[] {
  const { reference_answers, reference_url, url_note, string_note, program_html, eval_types } = row.eval;
  const visual = row.image !== undefined || row.visual_difficulty !== undefined;
  return [...new Set(eval_types)].flatMap((type): readonly Check[] => {
    switch (type) {
      case 'string_match':
        return [
          { kind: 'answer-text', rules: textRules(reference_answers!, { reason: string_note ?? '', words: visual }) },
        ];
      case 'url_match': {
        // Each of the two benchmarks has its own rule where none is stated.
        const rule = (url_note ?? (visual ? 'EXACT' : 'GOLD in PRED')) === 'EXACT' ? 'exact' : 'contained';
        return [{ kind: 'final-url', references: reference_url!.split(' |OR| '), rule }];
      }
      case 'program_html': {
        const targets = program_html!.map((one) => targetOf(one, visual));
        const unsupported = targets.filter((one) => 'kind' in one);
        if (unsupported.length > 0) return unsupported;
        return [{ kind: 'page-content', targets: targets.filter((one): one is PageTarget => !('kind' in one)) }];
      }
      default:
        return [{ kind: 'unsupported', evaluator: type, reason: 'this kind of check is not carried out here' }];
    }
  });
}

type Unsupported = Extract<Check, { readonly kind: 'unsupported' }>;

function targetOf(
  { url, locator, prep_actions = [], required_contents }: Target,
  words: boolean,
): PageTarget | Unsupported {
  const place = /^func:(\w+)/u.exec(url)?.[1];
  const helper = pageHelper(locator.trim());
  const unknown =
    place !== undefined && place !== 'reddit_get_post_url'
      ? place
      : helper !== undefined && 'unknown' in helper
        ? helper.unknown
        : undefined;
  if (unknown !== undefined) {
    const reason = 'this helper of the benchmark asks a site’s own interface, and is not carried out here';
    return { kind: 'unsupported', evaluator: `func:${unknown}`, reason };
  }
  const expression = helper !== undefined && 'expression' in helper ? helper.expression : locator.trim();
  if (expression !== '' && !/^(?:document\.|\[\.\.\.document\.|lambda:)/u.test(expression)) {
    return { kind: 'unsupported', evaluator: `locator:${expression.slice(0, 40)}`, reason: 'it begins as none known' };
  }
  return {
    page: url === 'last' ? 'last' : place === undefined ? { url } : 'post-of-last',
    locator: expression.startsWith('lambda:') ? `(${expression.slice('lambda:'.length)})()` : expression,
    prepare: prep_actions,
    rules: textRules(required_contents, { reason: '', words }),
  };
}

function placeOf(place: { latitude: number; longitude: number } | undefined): LoadedTask['needs']['geolocation'] {
  return place === undefined ? null : { latitude: place.latitude, longitude: place.longitude };
}
