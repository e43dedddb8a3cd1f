// JSON as a type. What crosses a file, a wire or a prompt is made of these.

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Settings as JSON: without those that were left out, because `undefined` is no JSON. */
export function asJson(settings: object): JsonObject {
  return JSON.parse(JSON.stringify(settings)) as JsonObject;
}
