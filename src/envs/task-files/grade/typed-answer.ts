// WebArena-Verified's answer: one JSON object {"task_type", "status", "retrieved_data"}. Pure.

import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/index.ts';
import type { TypedAnswerCheck } from '../loaded-task.ts';
import { isEmpty, sameList } from './typed-values.ts';

/** What does not hold; undefined where it all does. */
export function typedAnswerProblem(check: TypedAnswerCheck, answer: string | undefined): string | undefined {
  if (answer === undefined) return 'no answer was given';
  const given = answerObject(answer);
  if (typeof given === 'string') return given;
  // The name of the field in the benchmark's earlier versions.
  const taskType = given['task_type'] ?? given['performed_operation'];
  if (!sameWord(taskType, check.taskType)) return `task_type is not ${check.taskType}`;
  if (!sameWord(given['status'], check.status)) return `status is not ${check.status}`;
  if (check.taskType !== 'retrieve') return undefined;
  const data = given['retrieved_data'];
  if (check.data === null) return isEmpty(data) ? undefined : 'retrieved_data must be null';
  if (data === undefined || data === null) return 'retrieved_data is missing';
  const items = (check.schema as { readonly items?: JsonObject }).items ?? {};
  const actual: readonly JsonValue[] = Array.isArray(data) ? (data as JsonValue[]) : [data];
  if (actual.length !== check.data.length)
    return `retrieved_data holds ${actual.length} values, not ${check.data.length}`;
  return sameList(check.data, actual, items, check.ordered) ? undefined : 'retrieved_data holds other values';
}

function sameWord(given: JsonValue | undefined, expected: string): boolean {
  return typeof given === 'string' && given.trim().toLowerCase() === expected.toLowerCase();
}

/** The object, or why there is not exactly one: of several nobody can say which is the answer. */
function answerObject(answer: string): JsonObject | string {
  const whole = parsed(answer);
  if (whole !== undefined) return whole;
  const blocks = [...answer.matchAll(/```(?:json)?\s*([^]*?)```/gu)]
    .map(([, text]) => parsed(text))
    .filter((one) => one !== undefined);
  if (blocks.length === 1) return blocks[0];
  return blocks.length === 0 ? 'the answer is no JSON object' : 'the answer holds several JSON objects';
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
