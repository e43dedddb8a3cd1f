// The page as the agent reads it: one line a control, made from accessibility nodes. Pure. Ignored and nameless
// structure is transparent, never a reason to drop what is below it. Nothing a page says can forge a line: a name
// stays inside its quotes.
// The order role, name, state, reference is Playwright's; bid-first is BrowserGym's.

import type { Protocol } from 'devtools-protocol';
import { quote } from './quote.ts';
import type { References } from './references.ts';

type AxNode = Protocol.Accessibility.AXNode;

export type ObservationStyle = 'name-first' | 'bid-first';

export type ObservationOptions = {
  /** `checkbox "MRW" [checked] [18]` or `[18] checkbox 'MRW', checked='true'`. Default `name-first`. */
  readonly style?: ObservationStyle;
  /** Also headings and loose text, as lines without a reference. Default false. */
  readonly content?: boolean;
  /** Lines after which the page is cut, with a last line that says so. Default 200. */
  readonly maxLines?: number;
  /** Characters of a name after which it is cut. Default 120. */
  readonly maxNameLength?: number;
};

/** A control of the page as it was when it was read. */
export type Control = {
  readonly reference: number;
  readonly backendNodeId: number;
  readonly role: string;
  readonly name: string;
  /** e.g. `['checked', 'disabled']`, `['checked=mixed']`. */
  readonly states: readonly string[];
};

export type PageObservation = {
  readonly text: string;
  /** Controls that have a line, by reference. */
  readonly controls: ReadonlyMap<number, Control>;
};

/** Roles of what a person can click, choose or fill in. */
export const CONTROL_ROLES: ReadonlySet<string> = new Set(
  (
    'button checkbox radio switch textbox searchbox combobox listbox option spinbutton slider link tab treeitem ' +
    'menuitem menuitemcheckbox menuitemradio ColorWell Date DateTime InputTime DisclosureTriangle MenuListPopup'
  ).split(' '),
);
const CONTENT_ROLES: ReadonlySet<string> = new Set(['heading', 'StaticText']);
/** Properties shown when true (or when they hold another word, such as `mixed`), in this order. */
const STATE_PROPERTIES = ['checked', 'disabled', 'expanded', 'pressed', 'selected'] as const;

export function observePage(
  nodes: readonly AxNode[],
  references: References,
  options: ObservationOptions = {},
): PageObservation {
  const { style = 'name-first', content = false, maxLines = 200, maxNameLength = 120 } = options;
  const controls = new Map<number, Control>();
  const lines: string[] = [];
  let omitted = 0;

  for (const { node, named } of inDocumentOrder(nodes)) {
    const role = node.role?.value as string | undefined;
    if (node.ignored || role === undefined) continue;
    const name = plainName(node, maxNameLength);
    if (CONTROL_ROLES.has(role) && node.backendDOMNodeId !== undefined) {
      // A control keeps its number even while its line is cut off.
      const reference = references.of(node.backendDOMNodeId);
      if (lines.length >= maxLines) {
        omitted++;
        continue;
      }
      const control: Control = {
        reference,
        backendNodeId: node.backendDOMNodeId,
        role: role.toLowerCase(),
        name,
        states: statesOf(node),
      };
      controls.set(reference, control);
      lines.push(controlLine(control, style));
    } else if (content && CONTENT_ROLES.has(role) && name !== '' && !named) {
      if (lines.length >= maxLines) omitted++;
      else lines.push(contentLine(role === 'heading' ? 'heading' : 'text', name, style));
    }
  }
  if (omitted > 0) lines.push(`(truncated: ${omitted} more)`);
  return { text: lines.join('\n'), controls };
}

function controlLine({ reference, role, name, states }: Control, style: ObservationStyle): string {
  if (style === 'bid-first') {
    const states_ = states.map((state) => (state.includes('=') ? state.replace(/=(.*)/, "='$1'") : `${state}='true'`));
    return [`[${reference}] ${role} ${quote(name, "'")}`, ...states_].join(', ');
  }
  return [role, quote(name, '"'), ...states.map((state) => `[${state}]`), `[${reference}]`].join(' ');
}

function contentLine(role: string, name: string, style: ObservationStyle): string {
  return `${role} ${quote(name, style === 'bid-first' ? "'" : '"')}`;
}

/** Versions of Chromium differ in the white space of names (147 keeps a label's leading blank, 156 does not). */
export function plainName(node: AxNode, maxLength: number): string {
  return shortName(String((node.name?.value as string | undefined) ?? ''), maxLength);
}

/** On one line, and cut after so many characters. */
export function shortName(name: string, maxLength: number): string {
  const text = name.replace(/\s+/gu, ' ').trim();
  if (text.length <= maxLength) return text;
  const characters = [...text.slice(0, 4 * maxLength)];
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength).join('')}…`;
}

/** e.g. `['checked', 'disabled']`. */
export function statesOf(node: AxNode): readonly string[] {
  const states: string[] = [];
  for (const name of STATE_PROPERTIES) {
    const value = node.properties?.find((property) => property.name === name)?.value.value as unknown;
    if (value === true || value === 'true') states.push(name);
    else if (value === 'mixed') states.push(`${name}=mixed`);
  }
  return states;
}

/**
 * Depth first from the root, without recursion: pages may nest thousands deep. `named`: below a control or heading,
 * whose name says the text already.
 */
function* inDocumentOrder(nodes: readonly AxNode[]): Generator<{ readonly node: AxNode; readonly named: boolean }> {
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const isRoot = (node: AxNode): boolean => node.parentId === undefined || !byId.has(node.parentId);
  const stack = nodes.filter(isRoot).map((node) => ({ node, named: false }));
  stack.reverse();
  const seen = new Set<string>();
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { node, named } = item;
    if (seen.has(node.nodeId)) continue;
    seen.add(node.nodeId);
    yield item;
    const role = node.role?.value as string | undefined;
    const names = !node.ignored && role !== undefined && (CONTROL_ROLES.has(role) || role === 'heading');
    for (const id of [...(node.childIds ?? [])].reverse()) {
      const child = byId.get(id);
      if (child !== undefined) stack.push({ node: child, named: named || names });
    }
  }
}
