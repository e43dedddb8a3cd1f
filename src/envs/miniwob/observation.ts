// A MiniWoB page as the agent reads it: one line a control, a piece of text, a shape or a picture, in document order,
// each with its role, name, state and reference. Pure. Roles, names and states are those of the accessibility tree; what
// that tree leaves out (drawn shapes, coloured boxes, icons, text that hears clicks) comes from the page's layout, with
// its place. The task's words, the reward display and the cover of the test bench are not part of the page.

import { CONTROL_ROLES, quote, type Control, type PageObservation, type References } from '../../browser/index.ts';
import { colourName } from './colours.ts';
import type { Box, LayoutNode } from './layout.ts';
import type { Said, SaidOf } from './said.ts';

export type ObserveOptions = {
  readonly said: SaidOf;
  readonly layout: readonly LayoutNode[];
  readonly references: References;
  /** Lines after which the page is cut, with a last line that says so. Default 200. */
  readonly maxLines?: number;
};

/** Drawn by the test bench, not by the task. */
const BENCH_IDS: ReadonlySet<string> = new Set(['query', 'reward-display', 'click-canvas', 'sync-task-cover']);
const NOT_SHOWN: ReadonlySet<string> = new Set(['HEAD', 'SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT']);
const SHAPES: Readonly<Record<string, string>> = {
  circle: 'circle',
  ellipse: 'ellipse',
  rect: 'rectangle',
  line: 'line',
  path: 'path',
  polyline: 'polyline',
};
/** Controls whose parts are controls too. */
const CONTAINERS: ReadonlySet<string> = new Set(['listbox', 'combobox', 'MenuListPopup']);
const VALUED: ReadonlySet<string> = new Set(
  'textbox searchbox combobox spinbutton slider Date DateTime InputTime'.split(' '),
);
const MAX_VALUE = 2_000;
/** CSS pixels; smaller marks are dust. */
const SMALLEST_BOX = 4;
const SMALLEST_SHAPE = 3;

type Line = { role: string; name: string; states: string[]; reference: number; node: LayoutNode };

export function observeMiniwob({ said, layout, references, maxLines = 200 }: ObserveOptions): PageObservation {
  const view = layout.map(() => ({
    hidden: false,
    control: undefined as Line | undefined,
    labelled: false,
    clickable: false,
  }));
  const full = nodesWithContent(layout, said);
  const lines: Line[] = [];

  const add = (node: LayoutNode, role: string, name: string, states: readonly string[] = []): Line => {
    const line = { role, name, states: [...states], reference: references.of(node.backendNodeId), node };
    lines.push(line);
    return line;
  };

  for (const [i, node] of layout.entries()) {
    const above = view[node.parent] ?? { hidden: false, control: undefined, labelled: false, clickable: false };
    const here = (view[i] = { ...above });
    if (isHidden(node)) here.hidden = true;
    if (here.hidden) continue;
    if (node.kind === 'text') {
      if (above.control !== undefined || above.labelled || !isSeen(node.box) || isInvisible(node)) continue;
      const owner = layout[node.parent];
      if (SVG_TEXT.has(owner.tag)) continue; // said by the shape
      const name = squeeze(node.text);
      if (name === '') continue;
      const role = said.get(owner.backendNodeId)?.role === 'heading' ? 'heading' : 'text';
      add(node, role, name, above.clickable ? ['clickable'] : []);
      continue;
    }
    if (node.clickable && node.tag !== 'BODY' && node.tag !== 'HTML') here.clickable = true;
    if (node.tag === 'LABEL' && labelsControl(node, i, layout)) here.labelled = true;
    const known = said.get(node.backendNodeId);
    if (known !== undefined && CONTROL_ROLES.has(known.role) && (isSeen(node.box) || node.tag === 'OPTION')) {
      const line = add(node, known.role.toLowerCase(), known.name, controlStates(node, known));
      if (!CONTAINERS.has(known.role)) here.control = line;
      continue;
    }
    if (node.box === undefined || isInvisible(node)) continue;
    const icon = iconOf(node);
    if (above.control !== undefined) {
      if (icon !== undefined) above.control.states.push(`icon=${quote(icon, '"')}`);
      continue;
    }
    const shape = shapeOf(node, i, layout);
    if (shape !== undefined) {
      if (isDrawn(node.box)) add(node, shape.role, shape.name, [...shape.states, ...placeOf(node.box)]);
    } else if (icon !== undefined || node.tag === 'IMG' || node.tag === 'CANVAS') {
      const what = node.tag === 'CANVAS' ? 'canvas' : 'image';
      const alt = known?.name ?? '';
      const states = [...(here.clickable ? ['clickable'] : []), ...placeOf(node.box)];
      add(node, what, alt === '' ? (icon ?? stemOf(node.attributes.get('src')) ?? '') : alt, states);
    } else if ((!full.has(i) && isBox(node)) || isLoose(node)) {
      const states = [...(here.clickable ? ['clickable'] : []), ...placeOf(node.box)];
      add(node, 'box', colourName(node.styles['background-color']) ?? '', states);
    }
  }
  return compose(lines, maxLines);
}

const SVG_TEXT: ReadonlySet<string> = new Set(['text', 'tspan']);

function compose(lines: readonly Line[], maxLines: number): PageObservation {
  const controls = new Map<number, Control>();
  const shown = lines.slice(0, maxLines).map(({ role, name, states, reference, node }) => {
    controls.set(reference, { reference, backendNodeId: node.backendNodeId, role, name, states });
    return [role, quote(name, '"'), ...states.map((state) => `[${state}]`), `[${reference}]`].join(' ');
  });
  if (lines.length > maxLines) shown.push(`(truncated: ${lines.length - maxLines} more)`);
  return { text: shown.join('\n'), controls };
}

/** Indices of the elements in which something else has a line. */
function nodesWithContent(layout: readonly LayoutNode[], said: SaidOf): ReadonlySet<number> {
  const full = new Set<number>();
  for (let i = layout.length - 1; i >= 0; i--) {
    const node = layout[i];
    const role = said.get(node.backendNodeId)?.role;
    const says =
      node.kind === 'text'
        ? isSeen(node.box) && squeeze(node.text) !== ''
        : (role !== undefined && CONTROL_ROLES.has(role)) ||
          (node.box !== undefined &&
            isSeen(node.box) &&
            (iconOf(node) !== undefined || isBox(node) || DRAWN.has(node.tag)));
    if (says || full.has(i)) full.add(node.parent);
  }
  return full;
}

const DRAWN: ReadonlySet<string> = new Set(['IMG', 'CANVAS', 'svg']);

function isHidden(node: LayoutNode): boolean {
  return NOT_SHOWN.has(node.tag) || BENCH_IDS.has(node.attributes.get('id') ?? '');
}

function isInvisible({ styles }: LayoutNode): boolean {
  return styles.visibility === 'hidden';
}

function isSeen(box: Box | undefined): boolean {
  return box !== undefined && box.width > 0 && box.height > 0;
}

function isDrawn({ width, height }: Box): boolean {
  return Math.max(width, height) >= SMALLEST_SHAPE;
}

/** Something to be seen or touched although it holds nothing. */
function isBox(node: LayoutNode): boolean {
  const { box, styles, attributes, clickable, tag } = node;
  if (box === undefined || box.width < SMALLEST_BOX || box.height < SMALLEST_BOX) return false;
  if (tag === 'BODY' || tag === 'HTML' || node.parent < 0) return false;
  const id = attributes.get('id') ?? '';
  if (id === 'wrap' || id === 'area') return false;
  return (
    clickable ||
    attributes.has('tabindex') ||
    colourName(styles['background-color']) !== undefined ||
    (styles['border-top-style'] ?? 'none') !== 'none' ||
    /\bui-\w+-handle\b/.test(attributes.get('class') ?? '')
  );
}

/** To be dragged as a whole, whatever is written on it. */
function isLoose({ attributes }: LayoutNode): boolean {
  return /\bui-draggable\b/.test(attributes.get('class') ?? '');
}

function labelsControl(label: LayoutNode, index: number, layout: readonly LayoutNode[]): boolean {
  if (label.attributes.has('for')) return true;
  for (let i = index + 1; i < layout.length && layout[i].parent >= index; i++) {
    if (['INPUT', 'SELECT', 'TEXTAREA'].includes(layout[i].tag)) return true;
  }
  return false;
}

function controlStates({ attributes }: LayoutNode, { role, name, states: told, value }: Said): string[] {
  const states = [...told];
  // A button that shows an icon alone has nothing else to be told by.
  const kind = attributes.get('class') ?? '';
  if (role === 'button' && kind !== '' && name === '') states.push(`class=${quote(kind, '"')}`);
  if (VALUED.has(role) && value !== '') states.push(`value=${quote(value.slice(0, MAX_VALUE), '"')}`);
  return states;
}

function shapeOf(
  node: LayoutNode,
  index: number,
  layout: readonly LayoutNode[],
): { readonly role: string; readonly name: string; readonly states: readonly string[] } | undefined {
  const { tag, attributes, styles } = node;
  if (tag === 'svg') return { role: 'drawing', name: '', states: [] };
  const fill = attributes.get('fill') || colourName(styles.fill) || '';
  if (tag === 'text')
    return { role: 'text', name: textIn(index, layout), states: fill === '' ? [] : [`colour=${fill}`] };
  if (tag === 'line') {
    const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map((name) => Math.round(Number(attributes.get(name) ?? 0)));
    return {
      role: 'line',
      name: colourName(styles.stroke) ?? '',
      states: [`from ${x1},${y1} to ${x2},${y2} of its drawing`],
    };
  }
  if (tag === 'polygon') {
    const corners = (attributes.get('points') ?? '').trim().split(/\s+/).length;
    return { role: corners === 3 ? 'triangle' : `polygon of ${corners} corners`, name: fill, states: [] };
  }
  const role = SHAPES[tag];
  return role === undefined ? undefined : { role, name: fill === 'none' ? 'outline' : fill, states: [] };
}

function textIn(index: number, layout: readonly LayoutNode[]): string {
  const inside = new Set([index]);
  const parts: string[] = [];
  for (let i = index + 1; i < layout.length && inside.has(layout[i].parent); i++) {
    inside.add(i);
    if (layout[i].kind === 'text') parts.push(layout[i].text);
  }
  return squeeze(parts.join(''));
}

/** What a picture shows, by the name of its file; jQuery UI's icons are parts of one file and named by their class. */
function iconOf({ attributes, styles }: LayoutNode): string | undefined {
  const sprite = /\bui-icon-([\w-]+)/.exec(attributes.get('class') ?? '');
  if (sprite !== null) return sprite[1];
  const url = /url\("([^"]+)"\)/.exec(styles.content ?? '');
  return url === null ? undefined : stemOf(url[1]);
}

function stemOf(url: string | undefined): string | undefined {
  return /([^/]+)\.\w+$/.exec(url ?? '')?.[1];
}

/** Centre and size, whole CSS pixels of the page. */
function placeOf({ x, y, width, height }: Box): string[] {
  const round = Math.round;
  return [`at ${round(x + width / 2)},${round(y + height / 2)}`, `size ${round(width)}x${round(height)}`];
}

function squeeze(text: string): string {
  const plain = text.replace(/\s+/gu, ' ').trim();
  return plain.length <= MAX_VALUE ? plain : `${plain.slice(0, MAX_VALUE)}…`;
}
