// What an agent can do on a MiniWoB page, and what it is told when a call cannot be read. Elements are named by the
// number on their line; places by CSS pixels of the page, as the lines give them.

import { z } from 'zod';
import type { Control, PageObservation, References } from '../../browser/index.ts';
import type { Action, JsonObject, ToolSpec } from '../../core/index.ts';

const target = z.int().min(1).describe('The number in brackets at the end of a line.');
const pixel = z.number().min(-2000).max(2000);
const point = z.tuple([pixel, pixel]).describe('[x, y] in pixels of the page.');

const TOOLS = {
  click: {
    description: 'Click the middle of an element.',
    schema: z.strictObject({
      target,
      count: z.int().min(1).max(3).default(1).describe('2 selects the word there, 3 the paragraph.'),
      holding: z.enum(['Control', 'Shift']).optional().describe('A key held down meanwhile.'),
    }),
  },
  click_at: { description: 'Click at a place.', schema: z.strictObject({ x: pixel, y: pixel }) },
  hover: { description: 'Move the mouse over an element.', schema: z.strictObject({ target }) },
  hover_at: { description: 'Move the mouse to a place.', schema: z.strictObject({ x: pixel, y: pixel }) },
  fill: {
    description: 'Replace what is in a field. Dates as MM/DD/YYYY, times as 03:05 PM.',
    schema: z.strictObject({ target, text: z.string().max(5000) }),
  },
  type: {
    description: 'Type where the cursor is, key by key.',
    schema: z.strictObject({ text: z.string().min(1).max(2000) }),
  },
  press: {
    description: 'Press a key or a combination, e.g. Enter, Tab, ArrowRight, Control+A.',
    schema: z.strictObject({ keys: z.string().min(1).max(40), times: z.int().min(1).max(200).default(1) }),
  },
  select: {
    description: 'Choose options of a list by their text; those of a list of many replace what was chosen.',
    schema: z.strictObject({ target, options: z.array(z.string()).min(1).max(50) }),
  },
  drag: {
    description: 'Press the mouse on one element, move to another, release.',
    schema: z.strictObject({ from: target, to: target }),
  },
  drag_at: {
    description: 'Press the mouse at the first place, move through the others, release at the last.',
    schema: z.strictObject({ points: z.array(point).min(2).max(200) }),
  },
  scroll: {
    description: 'Turn the mouse wheel over an element; positive is down and right.',
    schema: z.strictObject({ target, dy: pixel.default(0), dx: pixel.default(0) }),
  },
  wait: { description: 'Do nothing for a while.', schema: z.strictObject({ ms: z.int().min(0).max(2000) }) },
} as const;

export type MiniwobToolName = keyof typeof TOOLS;

/** A call that can be carried out; elements are resolved to those of the page. */
export type MiniwobCall = {
  [T in MiniwobToolName]: { readonly tool: T; readonly args: z.infer<(typeof TOOLS)[T]['schema']> };
}[MiniwobToolName];

export const MINIWOB_TOOLS: readonly ToolSpec[] = Object.entries(TOOLS).map(([name, { description, schema }]) => {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
  return { name, description, parameters: parameters as JsonObject };
});

export type ReadMiniwobAction =
  | { readonly kind: 'call'; readonly call: MiniwobCall; readonly controls: ReadonlyMap<number, Control> }
  | { readonly kind: 'refused'; readonly problem: string; readonly tool: string | null };

/** What an action means on the page as the agent saw it. `controls`: those that the call names. */
export function readMiniwobAction(action: Action, page: PageObservation, references: References): ReadMiniwobAction {
  if (action.kind === 'malformed') return refused(`The reply could not be read: ${action.problem}`, null);
  if (action.kind === 'answer') return refused('There is nothing to answer here; act on the page.', null);
  const { tool } = action;
  if (!isTool(tool)) {
    return refused(`There is no tool ${shown(tool)}; the tools are ${Object.keys(TOOLS).join(', ')}.`, shown(tool));
  }
  const parsed = TOOLS[tool].schema.safeParse(action.args);
  if (!parsed.success) return refused(`${tool} was not understood: ${explain(parsed.error)}`, tool);
  const call = { tool, args: parsed.data } as MiniwobCall;
  const controls = new Map<number, Control>();
  for (const reference of referencesIn(call)) {
    const control = page.controls.get(reference);
    if (control === undefined) {
      const gone = references.knows(reference);
      return refused(
        gone ? `Element ${reference} is no longer on the page.` : `There is no element ${reference}.`,
        tool,
      );
    }
    controls.set(reference, control);
  }
  return { kind: 'call', call, controls };
}

function isTool(name: string): name is MiniwobToolName {
  return Object.hasOwn(TOOLS, name);
}

function referencesIn(call: MiniwobCall): readonly number[] {
  if (call.tool === 'drag') return [call.args.from, call.args.to];
  return 'target' in call.args ? [call.args.target] : [];
}

function refused(problem: string, tool: string | null): ReadMiniwobAction {
  return { kind: 'refused', problem, tool };
}

function explain(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

/** A policy's own words, short enough to be given back to it. */
function shown(value: string): string {
  return value.length <= 60 ? JSON.stringify(value) : `${JSON.stringify(value.slice(0, 60))}…`;
}
