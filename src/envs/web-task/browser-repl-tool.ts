// The tool `browser_repl` of episodes: what a model is told about it, and what a call of it means. It runs nothing.

import { z } from 'zod';
import type { Action, ToolSpec } from '../../core/index.ts';
import { toolDescription } from '../../repl/index.ts';
import type { WebTaskConfig } from './config.ts';

const NAME = 'browser_repl';

export function browserReplTool({ cellSeconds }: Pick<WebTaskConfig, 'cellSeconds'>): ToolSpec {
  return {
    name: NAME,
    description: toolDescription(),
    parameters: {
      type: 'object',
      properties: {
        code: { type: 'string', description: 'The cell: JavaScript, with await at the top level.' },
        timeout_sec: {
          type: 'integer',
          minimum: 1,
          maximum: cellSeconds,
          description: `Seconds that the cell may take. Default ${cellSeconds}.`,
        },
        reset: { type: 'boolean', description: 'End the session and its variables first. Default false.' },
      },
      required: ['code'],
      additionalProperties: false,
    },
  };
}

export type CellCall = { readonly code: string; readonly timeoutMs: number; readonly reset: boolean };
export type ReadCall =
  { readonly kind: 'cell'; readonly call: CellCall } | { readonly kind: 'refused'; readonly problem: string };

/** What an action that is no answer means. */
export function readCellCall(
  action: Exclude<Action, { readonly kind: 'answer' }>,
  { cellSeconds }: Pick<WebTaskConfig, 'cellSeconds'>,
): ReadCall {
  const refuse = (problem: string): ReadCall => ({ kind: 'refused', problem });
  if (action.kind === 'malformed') return refuse(action.problem);
  if (action.tool !== NAME) return refuse(`there is no tool ${shown(action.tool)}; the only tool is ${NAME}`);
  const parsed = argsSchema(cellSeconds).safeParse(action.args);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refuse(`${NAME}: ${issue.path.join('.')}${issue.path.length === 0 ? '' : ': '}${issue.message}`);
  }
  const { code, timeout_sec: seconds, reset } = parsed.data;
  if (code === '' && !reset) return refuse(`${NAME}: code is empty; only a reset may come without code`);
  return { kind: 'cell', call: { code, timeoutMs: seconds * 1000, reset } };
}

function argsSchema(cellSeconds: number) {
  return z.strictObject({
    code: z.string(),
    timeout_sec: z.int().min(1).max(cellSeconds).default(cellSeconds),
    reset: z.boolean().default(false),
  });
}

/** A policy's own words, short enough to be given back to it. */
function shown(value: string): string {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
