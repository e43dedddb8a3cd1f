// Tools as Harmony declares them: TypeScript types made of JSON schemas. The reference is `openai-harmony`, whose layout
// has corners (a description in front of a nested brace, empty Examples); they are kept, since models were trained on them.

import { isJsonObject, type JsonObject, type JsonValue, type ToolSpec } from '../../core/index.ts';

export function harmonyTools(tools: readonly ToolSpec[]): string {
  return `## functions\n\nnamespace functions {\n\n${tools.map(declaration).join('')}} // namespace functions`;
}

function declaration({ name, description, parameters }: ToolSpec): string {
  const lines = description.replace(/\r?\n$/, '').split(/\r?\n/);
  const comment = description === '' ? '' : lines.map((line) => `// ${line}\n`).join('');
  return `${comment}type ${name} = (_: ${typeOf(parameters, '')}) => any;\n\n`;
}

/** `indent` is that of what stands inside of the type. */
function typeOf(schema: JsonValue | undefined, indent: string): string {
  if (!isJsonObject(schema)) return 'any';
  const variants = listOf(schema.oneOf);
  if (variants !== undefined) {
    return variants.map((variant) => `\n${indent} | ${variantType(variant, indent, true)}`).join('');
  }
  const types = listOf(schema.type);
  if (types !== undefined) return types.map((type) => wordOf(type)).join(' | ');
  const base = baseType(schema, indent);
  return schema.nullable === true ? `${base} | null` : base;
}

function baseType(schema: JsonObject, indent: string): string {
  switch (schema.type) {
    case 'string': {
      const words = (listOf(schema.enum) ?? []).filter((value) => typeof value === 'string');
      return words.length > 0 ? words.map((word) => `"${word}"`).join(' | ') : 'string';
    }
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return schema.items === undefined ? 'Array<any>' : `${typeOf(schema.items, indent)}[]`;
    case 'object':
      return objectType(schema, indent);
    default:
      return 'any';
  }
}

function wordOf(type: JsonValue): string {
  if (typeof type !== 'string') return 'any';
  return type === 'integer' ? 'number' : type;
}

function objectType(schema: JsonObject, indent: string): string {
  const lead = typeof schema.description === 'string' ? `${indent}// ${schema.description}\n` : '';
  const required = new Set(listOf(schema.required) ?? []);
  const properties = isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  const lines = properties.map(([key, value]) => {
    const head = `${indent}${key}${required.has(key) ? '' : '?'}:`;
    return isJsonObject(value) ? property(value, indent, head) : `${head} any,\n`;
  });
  return `${lead}{\n${lines.join('')}${indent}}`;
}

function property(schema: JsonObject, indent: string, head: string): string {
  const variants = listOf(schema.oneOf);
  const comments = [...commentsOf(schema, variants)];
  const value = defaultOf(schema);
  if (variants === undefined) {
    const comment = comments.map((line) => `${indent}${line}\n`).join('');
    const tail = value === undefined ? '' : ` // default: ${value}`;
    return `${comment}${head} ${typeOf(schema, `${indent}    `)},${tail}\n`;
  }
  if (value !== undefined) comments.push(`// default: ${value}`);
  const hasText = typeof schema.description === 'string';
  const lines = variants.map((variant, index) => `${indent} | ${variantType(variant, indent, !hasText || index > 0)}`);
  return [...comments.map((line) => indent + line), head, lines.join('\n'), `${indent},\n`].join('\n');
}

function* commentsOf(schema: JsonObject, variants: readonly JsonValue[] | undefined): Generator<string> {
  if (typeof schema.title === 'string') yield* [`// ${schema.title}`, '//'];
  const [first] = variants ?? [];
  const repeats = isJsonObject(first) && first.description !== undefined && first.description === schema.description;
  if (typeof schema.description === 'string' && !repeats) yield `// ${schema.description}`;
  const examples = listOf(schema.examples) ?? [];
  if (examples.length > 0) yield '// Examples:';
  for (const example of examples) if (typeof example === 'string') yield `// - "${example}"`;
}

function variantType(variant: JsonValue, indent: string, described: boolean): string {
  const type = typeOf(variant, `${indent}   `);
  if (!isJsonObject(variant)) return type;
  const value = defaultOf(variant);
  const comment = [
    ...(described && typeof variant.description === 'string' ? [variant.description] : []),
    ...(value === undefined ? [] : [`default: ${value}`]),
  ];
  return comment.length === 0 ? type : `${type} // ${comment.join(' ')}`;
}

/** Texts in quotes, unless they are one of an enumeration. */
function defaultOf(schema: JsonObject): string | undefined {
  if (schema.default === undefined) return undefined;
  if (typeof schema.default !== 'string') return JSON.stringify(schema.default);
  return schema.enum === undefined ? `"${schema.default}"` : schema.default;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : undefined;
}
