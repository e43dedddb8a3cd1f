// Calls written with a tag for every argument, as Qwen3.5, Qwen3.6 and Nemotron 3 do. Values are raw text, so only the
// tool's schema can say what they are: "007" and "5" stay strings where a string is wanted. Families differ in how they
// spell scalars that are no strings, and in white space around the block.

import type { JsonObject, ToolCall, ToolSpec } from '../../core/index.ts';
import type { JsonText } from '../text/json-text.ts';
import { writeJson } from '../text/json-text.ts';
import { pythonStr } from '../text/python-text.ts';
import type { SegmentWriter } from '../segments.ts';
import type { CallReading } from './json-calls.ts';
import { argumentsOf } from './refusals.ts';
import { decodeArgument, parameterSchema } from './schema-values.ts';

/** `python`: True, None; `json`: true, null. Lists and objects are JSON in both. */
export type ScalarSpelling = 'python' | 'json';

export type WriteXmlCallOptions = {
  readonly format: string;
  readonly call: ToolCall;
  readonly scalars: ScalarSpelling;
};

export function writeXmlCall(writer: SegmentWriter, { format, call, scalars }: WriteXmlCallOptions): void {
  writer.format('<tool_call>\n<function=').content(call.name).format('>\n');
  for (const [key, value] of argumentsOf(format, call).entries) {
    writer.format('<parameter=').content(key).format('>\n').content(argumentText(value, scalars));
    writer.format('\n</parameter>\n');
  }
  writer.format('</function>\n</tool_call>');
}

function argumentText(value: JsonText, scalars: ScalarSpelling): string {
  if (value.kind === 'string') return value.value;
  return value.kind === 'literal' && scalars === 'python' ? pythonStr(value) : writeJson(value);
}

const FUNCTION = /^<function=([^>\n]*)>\n?([\s\S]*)$/;
// A value ends at the first closing tag that another parameter or the end follows, so that it may speak of such tags.
const PARAMETER = /\s*<parameter=([^>\n]*)>\n?([\s\S]*?)\n?<\/parameter>(?=\s*(?:<parameter=|$))/y;

export function readXmlCall(text: string, tools: readonly ToolSpec[]): CallReading {
  const malformed = (problem: string): CallReading => ({ malformed: { problem, text } });
  const match = FUNCTION.exec(text.trim());
  if (match === null) return malformed('a call begins with <function=NAME>');
  const [, name = '', inner = ''] = match;
  if (name === '') return malformed('the call names no function; write <function=NAME>');
  if (!inner.endsWith('</function>')) return malformed('the call does not end with </function>');
  const body = inner.slice(0, -'</function>'.length);
  const tool = tools.find((candidate) => candidate.name === name);
  const entries: [string, JsonText][] = [];
  let position = 0;
  while (body.slice(position).trim() !== '') {
    PARAMETER.lastIndex = position;
    const parameter = PARAMETER.exec(body);
    if (parameter === null) {
      const rest = body.slice(position).trim().slice(0, 80);
      return malformed(`arguments are written <parameter=NAME>\\nVALUE\\n</parameter>, this is not: ${rest}`);
    }
    const [whole, key = '', value = ''] = parameter;
    if (entries.some(([earlier]) => earlier === key)) return malformed(`the argument ${key} is given twice`);
    entries.push([key, decodeArgument(value, schemaOf(tool, key))]);
    position += whole.length;
  }
  return { call: { name, arguments: writeJson({ kind: 'object', entries }) } };
}

function schemaOf(tool: ToolSpec | undefined, key: string): JsonObject | undefined {
  return tool === undefined ? undefined : parameterSchema(tool.parameters, key);
}
