// Command-line flags from a config schema: one flag a leaf, named by its dotted path, described and defaulted by the
// schema itself. Reading them back gives the schema's input, so flags, help and `config.json` cannot drift apart.

import { Option, type Command } from 'commander';
import { z } from 'zod';
import { TabwrightError, type JsonValue } from '../core/index.ts';

type Leaf = {
  /** e.g. `['grpo', 'learningRate']`, whose flag is `--grpo.learning-rate`. */
  readonly path: readonly string[];
  readonly schema: z.ZodType;
};

/** Adds a flag for every leaf of `schema` to the command. */
export function addSchemaOptions(command: Command, schema: z.ZodObject): void {
  const defaults = schema.safeParse({});
  for (const { path, schema: leaf } of leavesOf(schema)) {
    const boolean = coreOf(leaf) instanceof z.ZodBoolean;
    const choices = choicesOf(leaf);
    const option = new Option(
      `--${flagOf(path)}${boolean ? '' : ` <${choices ? choices.join('|') : 'value'}>`}`,
      describe(leaf),
    );
    const value = defaults.success
      ? path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], defaults.data)
      : undefined;
    // Shown in the help, not filled in: the schema applies its own defaults.
    if (value !== undefined && !boolean) option.description += ` (default: ${JSON.stringify(value)})`;
    option.attributeName = () => path.join('.');
    command.addOption(option);
  }
}

/** The config that flags ask for. `given` holds commander's options by dotted path. */
export function readSchemaOptions<T extends z.ZodObject>(
  schema: T,
  given: Readonly<Record<string, unknown>>,
): z.infer<T> {
  const input: Record<string, unknown> = {};
  for (const { path, schema: leaf } of leavesOf(schema)) {
    const raw = given[path.join('.')];
    if (raw === undefined) continue;
    let at = input;
    for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
    at[path.at(-1)!] = coerce(leaf, raw);
  }
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const path = issue.path.map(String);
    const raw = given[path.join('.')];
    return `--${flagOf(path)}${typeof raw === 'string' ? ` ${raw}` : ''}: ${issue.message}`;
  });
  throw new TabwrightError('config', `${problems.join('; ')}. See --help for what is possible.`, {
    code: 'bad-option',
    details: { problems: problems as JsonValue },
  });
}

function leavesOf(schema: z.ZodObject, prefix: readonly string[] = []): Leaf[] {
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, field]) => {
    const core = coreOf(field);
    const path = [...prefix, key];
    return core instanceof z.ZodObject ? leavesOf(core, path) : [{ path, schema: field }];
  });
}

/** The schema inside defaults and optionals. */
function coreOf(schema: z.ZodType): z.ZodType {
  let core = schema;
  while (core instanceof z.ZodDefault || core instanceof z.ZodPrefault || core instanceof z.ZodOptional)
    core = core.unwrap() as z.ZodType;
  return core;
}

function choicesOf(schema: z.ZodType): readonly string[] | undefined {
  const core = coreOf(schema);
  return core instanceof z.ZodEnum ? core.options.map(String) : undefined;
}

function describe(schema: z.ZodType): string {
  return schema.description ?? coreOf(schema).description ?? '';
}

function coerce(schema: z.ZodType, raw: unknown): unknown {
  if (!(coreOf(schema) instanceof z.ZodNumber) || typeof raw !== 'string') return raw;
  // An empty or odd text stays text, so that the schema's message names what was given.
  return raw.trim() === '' || Number.isNaN(Number(raw)) ? raw : Number(raw);
}

function flagOf(path: readonly string[]): string {
  return path.map((key) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)).join('.');
}
