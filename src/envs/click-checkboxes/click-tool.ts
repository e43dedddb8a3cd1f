// The one tool of the agent, `click(target)`, and what it is told when a call cannot be carried out. Whatever is
// wrong with an action is answered in words; nothing here throws.

import type { PageObservation, References } from '../../browser/index.ts';
import type { Control } from '../../browser/index.ts';
import type { Action, ToolSpec } from '../../core/index.ts';

export const CLICK_TOOL: ToolSpec = {
  name: 'click',
  description: 'Click a control of the page.',
  parameters: {
    type: 'object',
    properties: {
      target: { type: 'integer', minimum: 1, description: 'The number in brackets on the line of the control.' },
    },
    required: ['target'],
    additionalProperties: false,
  },
};

export type ReadAction =
  | { readonly kind: 'click'; readonly control: Control }
  | {
      readonly kind: 'refused';
      readonly problem: string;
      readonly tool: string | null;
      readonly target: number | null;
    };

/** What an action means on the page as the agent saw it. */
export function readAction(action: Action, page: PageObservation, references: References): ReadAction {
  if (action.kind === 'malformed') {
    return { kind: 'refused', problem: `The reply could not be read: ${action.problem}`, tool: null, target: null };
  }
  if (action.kind === 'answer') {
    return {
      kind: 'refused',
      problem: 'There is nothing to answer here; click the controls.',
      tool: null,
      target: null,
    };
  }
  const { tool, args } = action;
  const given = args.target;
  const target = typeof given === 'number' && Number.isFinite(given) ? given : null;
  const refuse = (problem: string): ReadAction => ({ kind: 'refused', problem, tool, target });

  if (tool !== CLICK_TOOL.name) return refuse(`There is no tool ${shown(tool)}; the only tool is click.`);
  const extra = Object.keys(args).find((key) => key !== 'target');
  if (extra !== undefined) return refuse(`click has no argument ${shown(extra)}; it takes target alone.`);
  if (given === undefined) return refuse('click needs the argument target, the number of a control.');
  if (target === null || !Number.isInteger(target))
    return refuse(`target must be a whole number, got ${shown(given)}.`);
  const control = page.controls.get(target);
  if (control !== undefined) return { kind: 'click', control };
  return refuse(
    references.knows(target)
      ? `Control ${target} is no longer on the page.`
      : `There is no control ${target}; the page has ${[...page.controls.keys()].join(', ')}.`,
  );
}

/** A policy's own words, short enough to be given back to it. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
