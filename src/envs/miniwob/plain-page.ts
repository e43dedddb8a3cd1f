// What the accessibility tree would say of a page, told from its layout alone: the tree costs as much processor time as all
// the rest of a look. Certain for pages of plain HTML buttons, links, boxes and fields whose names are one piece of text;
// anything else that could matter (ARIA, lists of options, dates, names put together) makes it answer that it does not know.
// Pure. tests/suites/miniwob-plain.test.ts holds it to the tree on the pages of every task.
// Source of the rules: https://www.w3.org/TR/html-aam-1.0/ and https://www.w3.org/TR/accname-1.2/.

import { shortName } from '../../browser/index.ts';
import type { LayoutNode } from './layout.ts';
import { MAX_NAME, type Said, type SaidOf } from './said.ts';

/** Undefined where only the tree can tell. */
export function saidByPlainPage(layout: readonly LayoutNode[]): SaidOf | undefined {
  const page = readPage(layout);
  if (page === undefined) return undefined;
  const said = new Map<number, Said>();
  for (const [i, node] of layout.entries()) {
    if (node.kind === 'text') continue;
    const known = saidOf(i, page);
    if (known === 'unknown') return undefined;
    if (known !== undefined) said.set(node.backendNodeId, known);
  }
  return said;
}

type Unknown = 'unknown';
type PlainRole = 'button' | 'link' | 'textbox' | 'checkbox' | 'radio';

type PlainPage = {
  readonly layout: readonly LayoutNode[];
  /** Index of the first node after those that are in a node. */
  readonly ends: readonly number[];
  /** Labels by the id that they name. */
  readonly labels: ReadonlyMap<string, readonly number[]>;
  /** Ids that more than one element has. */
  readonly doubled: ReadonlySet<string>;
};

/** Elements with rules of their own, none of which is here. */
const FOREIGN: ReadonlySet<string> = new Set(
  (
    'SELECT OPTION OPTGROUP DATALIST DETAILS SUMMARY DIALOG IFRAME FRAME OBJECT EMBED AUDIO VIDEO AREA MAP METER PROGRESS ' +
    'OUTPUT FIELDSET LEGEND MENU SLOT a foreignObject'
  ).split(' '),
);
/** Attributes that change what an element is or says. */
const FOREIGN_ATTRIBUTE = /^(?:role|aria-.*|contenteditable|inert|popover|is|accesskey)$/;
const HEADING = /^H[1-6]$/;
/** Say nothing themselves, so that the name of what they are in is that of their text. */
const TRANSPARENT: ReadonlySet<string> = new Set('B I U S EM STRONG SMALL SPAN FONT LABEL DIV P'.split(' '));

function readPage(layout: readonly LayoutNode[]): PlainPage | undefined {
  const ends = layout.map((_, i) => i + 1);
  for (let i = layout.length - 1; i > 0; i--) {
    const { parent } = layout[i];
    if (parent >= 0) ends[parent] = Math.max(ends[parent], ends[i]);
  }
  const labels = new Map<string, number[]>();
  const ids = new Set<string>();
  const doubled = new Set<string>();
  for (const [i, { kind, tag, attributes }] of layout.entries()) {
    if (kind === 'text') continue;
    if (FOREIGN.has(tag)) return undefined;
    for (const attribute of attributes.keys()) if (FOREIGN_ATTRIBUTE.test(attribute)) return undefined;
    const id = attributes.get('id');
    if (id !== undefined) (ids.has(id) ? doubled : ids).add(id);
    const of = tag === 'LABEL' ? attributes.get('for') : undefined;
    if (of !== undefined) labels.set(of, [...(labels.get(of) ?? []), i]);
  }
  return { layout, ends, labels, doubled };
}

function saidOf(i: number, page: PlainPage): Said | undefined | Unknown {
  const node = page.layout[i];
  const { tag, attributes } = node;
  const control = controlRole(node);
  const named = control !== undefined || HEADING.test(tag) || tag === 'IMG' || tag === 'CANVAS' || isPicture(node);
  if (!named || node.box === undefined || node.styles.visibility === 'hidden') return undefined;
  if (control === 'unknown' || attributes.has('title')) return 'unknown';
  // Nothing is asked of a heading but that it is one.
  if (HEADING.test(tag)) return { role: 'heading', name: '', states: [], value: '' };
  if (control === undefined) {
    if (tag !== 'IMG' && (attributes.has('alt') || page.ends[i] > i + 1)) return 'unknown';
    return { role: 'image', name: short(attributes.get('alt') ?? ''), states: [], value: '' };
  }
  if (node.box.width <= 0 || node.box.height <= 0) return 'unknown';
  const name = FROM_CONTENT.has(tag) ? nameIn(i, undefined, page) : nameOfField(i, page);
  if (name === undefined) return 'unknown';
  const states = [...(node.checked ? ['checked'] : []), ...(attributes.has('disabled') ? ['disabled'] : [])];
  const value = control !== 'textbox' ? '' : (node.value ?? '');
  const hidden = attributes.get('type')?.toLowerCase() === 'password';
  return { role: control, name: short(name), states, value: hidden ? '•'.repeat(value.length) : value };
}

const FROM_CONTENT: ReadonlySet<string> = new Set(['BUTTON', 'A']);

function controlRole({ tag, attributes, clickable }: LayoutNode): PlainRole | undefined | Unknown {
  if (tag === 'BUTTON') return 'button';
  if (tag === 'TEXTAREA') return 'textbox';
  if (tag === 'A') return attributes.has('href') || clickable ? 'link' : undefined;
  if (tag !== 'INPUT') return undefined;
  const type = attributes.get('type')?.toLowerCase() ?? 'text';
  if (type === 'text' || type === 'password') return attributes.has('list') ? 'unknown' : 'textbox';
  return type === 'checkbox' || type === 'radio' ? type : 'unknown';
}

/** Drawn from a file by the page's styles. */
function isPicture({ styles }: LayoutNode): boolean {
  return styles.content?.includes('url(') === true;
}

/** By its label, else by its hint. */
function nameOfField(i: number, page: PlainPage): string | undefined {
  const { attributes } = page.layout[i];
  const id = attributes.get('id') ?? '';
  if (page.doubled.has(id)) return undefined;
  const labels = [...(page.labels.get(id) ?? [])];
  const around = labelAround(i, page);
  if (around !== undefined && !labels.includes(around)) {
    // One that is for something else labels nothing that it holds.
    if (!page.layout[around].attributes.has('for')) labels.push(around);
  }
  if (labels.length === 0) return attributes.get('placeholder') ?? '';
  return labels.length > 1 ? undefined : nameIn(labels[0], i, page);
}

function labelAround(i: number, { layout }: PlainPage): number | undefined {
  for (let at = layout[i].parent; at >= 0; at = layout[at].parent) if (layout[at].tag === 'LABEL') return at;
  return undefined;
}

/** The text in a node, where it is drawn, of one piece, and with nothing else in it that says something but `except`. */
function nameIn(i: number, except: number | undefined, { layout, ends }: PlainPage): string | undefined {
  if (layout[i].box === undefined || layout[i].attributes.has('title')) return undefined;
  let name: string | undefined;
  for (let at = i + 1; at < ends[i]; at++) {
    const node = layout[at];
    if (node.styles.visibility === 'hidden') return undefined;
    if (node.kind === 'element') {
      if (at !== except && (!TRANSPARENT.has(node.tag) || isPicture(node) || node.box === undefined)) return undefined;
      if (node.attributes.has('title')) return undefined;
      continue;
    }
    if (node.text.trim() === '') continue;
    if (name !== undefined || node.box === undefined || node.drawn !== undefined) return undefined;
    name = node.text;
  }
  return name ?? '';
}

function short(name: string): string {
  return shortName(name, MAX_NAME);
}
