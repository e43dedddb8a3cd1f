// JSON as a schema: zod's own, with the project's types.

import { z } from 'zod';
import type { JsonObject, JsonValue } from '../core/index.ts';

export const jsonValue = z.json() as unknown as z.ZodType<JsonValue>;
export const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>;
