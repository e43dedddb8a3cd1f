// JSON as a type. What crosses a file, a wire or a prompt is made of these.

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export type JsonObject = { readonly [key: string]: JsonValue };
