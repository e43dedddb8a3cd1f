// What elements are to assistive technology, as far as an agent is told of it: role, name, states and value, by the element's
// backend id. Here as the accessibility tree has it; plain-page.ts tells the same of simple pages without that tree.

import { plainName, statesOf, type AxNode } from '../../browser/index.ts';

export type Said = {
  /** As the tree has it: `button`, `textbox`, `Date`. */
  readonly role: string;
  readonly name: string;
  /** e.g. `['checked', 'disabled']`. */
  readonly states: readonly string[];
  /** What is filled in or chosen; empty where there is nothing. */
  readonly value: string;
};

export type SaidOf = ReadonlyMap<number, Said>;

/** Characters of a name after which it is cut. */
export const MAX_NAME = 120;

/** Ignored nodes of the tree are nothing to anybody, and text is read from the page itself. */
export function saidByTree(nodes: readonly AxNode[]): SaidOf {
  const said = new Map<number, Said>();
  for (const node of nodes) {
    const role = node.role?.value as string | undefined;
    if (node.ignored || role === undefined || node.backendDOMNodeId === undefined || TEXT.has(role)) continue;
    const value = node.value?.value as string | number | undefined;
    said.set(node.backendDOMNodeId, {
      role,
      name: plainName(node, MAX_NAME),
      states: statesOf(node),
      value: value === undefined ? '' : String(value),
    });
  }
  return said;
}

const TEXT: ReadonlySet<string> = new Set(['StaticText', 'InlineTextBox']);
