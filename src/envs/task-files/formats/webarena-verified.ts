// WebArena-Verified: a JSON array of WebArena's tasks with a typed answer and checks of what went over the network.
// Which types of values and which patterns it asks for is looked at here, so that none is found missing in the middle.

import { z } from 'zod';
import type { JsonObject } from '../../../core/index.ts';
import { KNOWN_TYPES } from '../grade/typed-values.ts';
import { isSimplePath } from '../grade/json-path.ts';
import { NO_NEEDS, type Check } from '../loaded-task.ts';
import { address, filled, rowId, rowReader, type Format } from './format.ts';

const object = z
  .record(z.string(), z.json())
  .nullish()
  .transform((value) => value ?? {});
const pattern = z.string().refine((text) => canCompile(text), 'is no regular expression');
const reference = filled.refine((text) => !text.startsWith('^') || canCompile(text), 'is no regular expression');

const answerSchema = z.looseObject({
  evaluator: z.literal('AgentResponseEvaluator'),
  results_schema: object,
  ordered: z.boolean().default(false),
  expected: z.looseObject({
    task_type: z
      .string()
      .transform((text) => text.toLowerCase())
      .pipe(z.enum(['retrieve', 'mutate', 'navigate'])),
    status: filled,
    retrieved_data: z.array(z.json()).nullish(),
  }),
});

const networkSchema = z.looseObject({
  evaluator: z.literal('NetworkEventEvaluator'),
  ignored_query_params: z.array(z.string()).nullish(),
  ignored_query_params_patterns: z.array(pattern).nullish(),
  ignored_post_data_params_patterns: z.array(pattern).nullish(),
  post_data_schema: object,
  query_params_schema: object,
  decode_base64_query: z.boolean().default(false),
  should_not_exist: z.boolean().default(false),
  last_event_only: z.boolean().default(true),
  expected: z.looseObject({
    url: z.union([reference.transform((url) => [url]), z.array(reference).min(1)]),
    http_method: z.string().nullish(),
    headers: object,
    post_data: object,
    query_params: object,
    response_status: z.int().nullish(),
    response_content: object,
    response_cookies: object,
  }),
});

const schema = z.looseObject({
  sites: z.array(filled).min(1),
  task_id: rowId,
  intent_template_id: z.union([z.number(), z.string()]),
  start_urls: z.array(address).min(1),
  intent: filled,
  revision: z.int(),
  eval: z
    .array(z.looseObject({ evaluator: filled }))
    .min(1, 'must hold a check: a task without one is done by doing nothing')
    .transform((list, context) =>
      list.map((one, index) => {
        const known = { AgentResponseEvaluator: answerSchema, NetworkEventEvaluator: networkSchema }[one.evaluator];
        if (known === undefined) return { evaluator: 'unknown', name: one.evaluator } as const;
        const parsed = known.safeParse(one);
        if (parsed.success) return parsed.data;
        for (const { path, message } of parsed.error.issues) {
          context.addIssue({ code: 'custom', path: [index, ...path], message });
        }
        return z.NEVER;
      }),
    )
    .refine(
      (list) => list.filter((one) => one.evaluator === 'AgentResponseEvaluator').length <= 1,
      'has two typed answers',
    ),
});
type Evaluator = z.output<typeof schema>['eval'][number];

export const webarenaVerifiedFormat: Format = {
  name: 'webarena-verified',
  claims: (row) => 'start_urls' in row && 'eval' in row && 'revision' in row,
  read: rowReader(schema, (row) => ({
    id: row.task_id,
    startUrls: row.start_urls as [string, ...string[]],
    instruction: row.intent,
    group: `template-${row.intent_template_id}`,
    sites: row.sites,
    needs: { ...NO_NEEDS, login: row.sites.some((site) => site !== 'map' && site !== 'wikipedia') },
    checks: row.eval.map((one) => checkOf(one, row.eval)),
  })),
};

function checkOf(one: Evaluator, all: readonly Evaluator[]): Check {
  if (one.evaluator === 'unknown') {
    return { kind: 'unsupported', evaluator: one.name, reason: 'this evaluator is not carried out here' };
  }
  const missing = one.evaluator === 'AgentResponseEvaluator' ? unknownTypes(one.results_schema) : unknownOf(one);
  if (missing.length > 0) {
    const evaluator = `${one.evaluator}:${missing[0]}`;
    return { kind: 'unsupported', evaluator, reason: 'values of this kind are not compared here' };
  }
  if (one.evaluator === 'AgentResponseEvaluator') {
    const { task_type, status, retrieved_data } = one.expected;
    return {
      kind: 'typed-answer',
      taskType: task_type,
      status,
      data: retrieved_data ?? null,
      schema: one.results_schema,
      ordered: one.ordered,
    };
  }
  const { expected } = one;
  const navigates = all.some(
    (other) => other.evaluator === 'AgentResponseEvaluator' && other.expected.task_type === 'navigate',
  );
  return {
    kind: 'network',
    urls: expected.url,
    method: expected.http_method?.toUpperCase() ?? null,
    status: expected.response_status ?? null,
    headers: expected.headers,
    query: expected.query_params,
    post: expected.post_data,
    response: expected.response_content,
    cookies: expected.response_cookies,
    querySchema: one.query_params_schema,
    postSchema: one.post_data_schema,
    ignoredQuery: one.ignored_query_params ?? [],
    ignoredQueryPatterns: one.ignored_query_params_patterns ?? [],
    ignoredPostPatterns: one.ignored_post_data_params_patterns ?? [],
    base64Query: one.decode_base64_query,
    mustNotExist: one.should_not_exist,
    lastOnly: one.last_event_only,
    lastNavigation: navigates && expected.http_method?.toUpperCase() === 'GET',
  };
}

function unknownOf({
  expected,
  post_data_schema,
  query_params_schema,
}: z.output<typeof networkSchema>): readonly string[] {
  const paths = [...Object.keys(expected.post_data), ...Object.keys(expected.response_content)];
  return [
    ...unknownTypes(post_data_schema),
    ...unknownTypes(query_params_schema),
    ...paths.filter((path) => path.startsWith('$') && !isSimplePath(path)),
  ];
}

/** Names of types and formats in a schema that no value is read as. */
function unknownTypes(schemaOf: JsonObject): readonly string[] {
  const { type, format, items, properties } = schemaOf as Record<string, JsonObject | string | undefined>;
  const name = (format ?? type) as string | undefined;
  return [
    ...(name === undefined || name === 'array' || name === 'object' || KNOWN_TYPES.has(name) ? [] : [name]),
    ...(typeof items === 'object' ? unknownTypes(items) : []),
    ...(typeof properties === 'object'
      ? Object.values(properties).flatMap((one) => unknownTypes(one as JsonObject))
      : []),
  ];
}

function canCompile(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    try {
      new RegExp(text);
      return true;
    } catch {
      return false;
    }
  }
}
