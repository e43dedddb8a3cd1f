// A tool as OpenAI's API declares it, `{"type": "function", "function": {...}}`, which most templates print as it is.

import type { ToolSpec } from '../../core/index.ts';
import { toJsonText, type JsonText } from '../text/json-text.ts';

export function toolDeclaration({ name, description, parameters }: ToolSpec): JsonText {
  return toJsonText({ type: 'function', function: { name, description, parameters } });
}
