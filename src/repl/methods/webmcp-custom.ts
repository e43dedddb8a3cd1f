// Tools that a cell adds to pages: their definitions, checked, and which addresses they are for. Where they run is
// webmcp-tools.ts's business. All of it comes from a model, so nothing here may take long, whatever it says: addresses
// are matched in linear time, and schemas with regular expressions are refused.

import { z } from 'zod';
import { isFunctionSource } from '../wire-values.ts';
import { helperFailed } from './failures.ts';

const HELPER = 'webmcp.addCustomTools';
const MAX_TOOLS = 100;
const MAX_SCHEMA_DEPTH = 32;

const jsonSchema = z.looseObject(
  { type: z.literal('object') },
  { error: 'inputSchema must be a JSON schema of type "object"' },
);

const definitionSchema = z.strictObject({
  kind: z.enum(['page', 'cdp'], { error: 'kind must be page or cdp' }),
  match: z.strictObject({
    url_patterns: z
      .array(z.string().max(2_000))
      .min(1, { error: 'match.url_patterns must be a non-empty array' })
      .max(100),
  }),
  tool: z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, {
      error: 'tool.name must be 1 to 100 letters, digits, dots, hyphens or underscores',
    }),
    title: z.string().optional(),
    description: z.string({ error: 'tool.description must be a string' }),
    inputSchema: jsonSchema,
    outputSchema: jsonSchema.optional(),
    annotations: z.record(z.string(), z.boolean()).optional(),
  }),
  execute: z.unknown().refine(isFunctionSource, { error: 'execute must be a function' }),
});

export const batchSchema = z.strictObject(
  {
    namespace: z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, {
      error: 'namespace must be 1 to 128 letters, digits, dots, hyphens or underscores',
    }),
    tools: z
      .array(definitionSchema, { error: 'tools must be a non-empty array' })
      .min(1, { error: 'tools must be a non-empty array' })
      .max(MAX_TOOLS),
    forceOverwriteNamespace: z.boolean({ error: 'forceOverwriteNamespace must be a boolean' }).default(false),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'the argument must be an object' : undefined) },
);

export type CustomTool = {
  readonly id: string;
  readonly namespace: string;
  readonly kind: 'page' | 'cdp';
  readonly match: { readonly url_patterns: readonly string[] };
  readonly tool: z.output<typeof definitionSchema>['tool'];
  readonly source: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType | undefined;
};

/** What a cell gets to see of a definition. */
export function summary({ id, namespace, kind, match, tool }: CustomTool): object {
  return { id, namespace, kind, match, tool };
}

export interface CustomTools {
  readonly all: readonly CustomTool[];
  /** All of a batch or none of it. */
  add(batch: z.output<typeof batchSchema>): readonly CustomTool[];
  remove(id: string): boolean;
  clear(): void;
}

export function createCustomTools(): CustomTools {
  let tools: readonly CustomTool[] = [];
  let lastId = 0;
  return {
    get all() {
      return tools;
    },
    add({ namespace, tools: given, forceOverwriteNamespace }) {
      const kept = forceOverwriteNamespace ? tools.filter((tool) => tool.namespace !== namespace) : tools;
      const taken = new Set(kept.filter((tool) => tool.namespace === namespace).map(({ tool }) => tool.name));
      const added = given.map(({ kind, match, tool, execute }): CustomTool => {
        if (taken.has(tool.name)) throw helperFailed(HELPER, `there is a tool ${namespace}/${tool.name} already`);
        taken.add(tool.name);
        for (const pattern of match.url_patterns) checkPattern(pattern);
        lastId++;
        return {
          id: `ct_${lastId}`,
          namespace,
          kind,
          match,
          tool,
          source: isFunctionSource(execute) ? execute.source : '',
          input: compiled('inputSchema', tool.inputSchema),
          output: tool.outputSchema === undefined ? undefined : compiled('outputSchema', tool.outputSchema),
        };
      });
      tools = [...kept, ...added];
      return added;
    },
    clear() {
      tools = [];
    },
    remove(id) {
      const kept = tools.filter((tool) => tool.id !== id);
      const found = kept.length < tools.length;
      tools = kept;
      return found;
    },
  };
}

function compiled(field: string, schema: object): z.ZodType {
  refuseExpressions(field, schema, 0);
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch (error) {
    throw helperFailed(
      HELPER,
      `tool.${field} is no JSON schema that can be checked: ${(error as Error).message}`,
      error,
    );
  }
}

function refuseExpressions(field: string, value: unknown, depth: number): void {
  if (depth > MAX_SCHEMA_DEPTH) throw helperFailed(HELPER, `tool.${field} nests deeper than ${MAX_SCHEMA_DEPTH}`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const expression =
      (key === 'pattern' && typeof inner === 'string') || key === 'patternProperties' || key === '$ref';
    if (expression) throw helperFailed(HELPER, `tool.${field}: ${key} is not supported`);
    refuseExpressions(field, inner, depth + 1);
  }
}

type Pattern = { readonly scheme: string; readonly host: string; readonly path: string };

function checkPattern(pattern: string): void {
  if (parsePattern(pattern) === undefined) {
    throw helperFailed(
      HELPER,
      `${JSON.stringify(pattern)} is no URL pattern: scheme (http, https or *) :// host (or *, or *.host) / path with *`,
    );
  }
}

function parsePattern(pattern: string): Pattern | undefined {
  const parts = /^(https?|\*):\/\/([^/]+)(\/.*)$/s.exec(pattern);
  if (parts === null) return undefined;
  const [, scheme, host, path] = parts as unknown as [string, string, string, string];
  const fixed = host === '*' ? '' : host.replace(/^\*\./, '');
  return fixed.includes('*') ? undefined : { scheme, host: host.toLowerCase(), path };
}

/** Whether an address, without its fragment, matches one of the patterns. */
export function matchesUrl(url: string, patterns: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host, pathname, search } = new URL(url);
  return patterns.some((text) => {
    const pattern = parsePattern(text)!;
    const schemeFits = pattern.scheme === '*' ? /^https?:$/.test(protocol) : protocol === `${pattern.scheme}:`;
    const domain = pattern.host.slice(2);
    const hostFits =
      pattern.host === '*' ||
      pattern.host === host ||
      (pattern.host.startsWith('*.') && (host === domain || host.endsWith(`.${domain}`)));
    return schemeFits && hostFits && matchesWildcards(pathname + search, pattern.path);
  });
}

/** `*` is any text. The pieces between are found from left to right, which is enough for this, and linear. */
function matchesWildcards(text: string, pattern: string): boolean {
  const pieces = pattern.split('*');
  if (pieces.length === 1) return text === pattern;
  const [first, last] = [pieces[0], pieces.at(-1)!];
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
