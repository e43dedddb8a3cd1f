// Text of an argument to a value, by the tool's JSON schema. What the schema does not let the text be stays the string
// that it is: whoever checks arguments then says so, and nothing is guessed.

import { isJsonObject, type JsonObject, type JsonValue } from '../../core/index.ts';
import { readJson, type JsonText } from '../text/json-text.ts';

/** The schema of one property; references within the schema are followed. */
export function parameterSchema(parameters: JsonObject, key: string): JsonObject | undefined {
  const properties = parameters.properties;
  if (!isJsonObject(properties) || !Object.hasOwn(properties, key)) return undefined;
  const schema = properties[key];
  return isJsonObject(schema) ? resolved(schema, parameters, 0) : undefined;
}

export function decodeArgument(text: string, schema: JsonObject | undefined): JsonText {
  const types = schema === undefined ? new Set<string>() : typesOf(schema);
  const trimmed = text.trim();
  if (types.has('null') && (trimmed === 'null' || trimmed === 'None')) return { kind: 'literal', text: 'null' };
  const asString: JsonText = { kind: 'string', value: text };
  if (types.has('string')) return asString;
  const word = types.has('boolean') ? BOOLEANS.get(trimmed) : undefined;
  if (word !== undefined) return { kind: 'literal', text: word };
  const reading = readJson(trimmed);
  return 'node' in reading && typeOfNode(reading.node).some((type) => types.has(type)) ? reading.node : asString;
}

// Templates write Python's words or JSON's, and models mix them.
const BOOLEANS = new Map([
  ['true', 'true'],
  ['True', 'true'],
  ['false', 'false'],
  ['False', 'false'],
]);

function typeOfNode(node: JsonText): readonly string[] {
  if (node.kind === 'object') return ['object'];
  if (node.kind === 'array') return ['array'];
  if (node.kind === 'string') return ['string'];
  if (node.text === 'null') return ['null'];
  if (node.text === 'true' || node.text === 'false') return ['boolean'];
  return Number.isInteger(Number(node.text)) ? ['integer', 'number'] : ['number'];
}

function typesOf(schema: JsonObject): Set<string> {
  const types = new Set<string>();
  const add = (value: JsonValue | undefined): void => {
    if (typeof value === 'string') types.add(value);
  };
  if (Array.isArray(schema.type)) (schema.type as readonly JsonValue[]).forEach(add);
  else add(schema.type);
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    for (const option of listOf(schema[key])) {
      if (isJsonObject(option)) for (const type of typesOf(option)) types.add(type);
    }
  }
  const constants = [...listOf(schema.enum), ...(schema.const === undefined ? [] : [schema.const])];
  if (types.size === 0) for (const value of constants) types.add(value === null ? 'null' : constantType(value));
  return types;
}

function constantType(value: JsonValue): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

const MAX_REFERENCES = 8;

/** A schema with `$ref`s into the tool's own schema replaced, also within its alternatives. */
function resolved(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  if (depth > MAX_REFERENCES) return schema;
  const path = typeof schema.$ref === 'string' ? /^#\/(.+)$/.exec(schema.$ref)?.[1] : undefined;
  if (path !== undefined) {
    let target: JsonValue | undefined = root;
    for (const step of path.split('/')) target = isJsonObject(target) ? target[step] : undefined;
    return isJsonObject(target) ? resolved(target, root, depth + 1) : schema;
  }
  const options = listOf(schema.anyOf ?? schema.oneOf);
  if (options.length === 0) return schema;
  return {
    ...schema,
    anyOf: options.map((option) => (isJsonObject(option) ? resolved(option, root, depth + 1) : option)),
  };
}
